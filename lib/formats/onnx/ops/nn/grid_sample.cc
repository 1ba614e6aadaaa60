#include "ops/nn/resize/grid_sample.h"
#include "base/text/text.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

// The modes of operator set 16 have other names from 20 on.
Status ImportGridSample(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const grid = ctx.input(1);
  if (const Type& type = x->type(); ctx.opset() < 20 && type.ranked() && type.rank() != 4)
    return ModelError("X is {}; operator set {} has GridSample for rank 4 only", type.ToString(),
                      ctx.opset());
  GridSampleAttrs a;
  const std::string text = ctx.String("mode", "linear");
  std::string_view mode = text;
  if (ctx.opset() < 20 && mode.starts_with("bi")) mode.remove_prefix(2);
  const auto known = ParseEnum<ResizeMode>(mode);
  if (!known) return ModelError("unknown mode {}", Quote(text));
  a.mode = *known;
  NN_ASSIGN(a.padding, ctx.Enum("padding_mode", GridPadding::kZeros));
  a.align_corners = ctx.Int("align_corners", 0) != 0;
  return ctx.Emit("grid_sample", {x, grid}, a);
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

// The modes of operator set 16 have other names from 20 on.
Status WriteGridSample(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<GridSampleAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "GridSample");
  std::string mode(EnumName(a.mode));
  if (ctx.opset() < 20 && a.mode != ResizeMode::kNearest) mode = "bi" + mode;
  SetString(out, "mode", mode);
  SetString(out, "padding_mode", EnumName(a.padding));
  SetInt(out, "align_corners", a.align_corners ? 1 : 0);
  return {};
}

std::optional<std::string> WhyNotGridSample(const Node& node) {
  if (node.attrs<GridSampleAttrs>().layout != Layout::kNcx) return "the channels must be axis 1";
  if (node.input(0)->type().quantized())
    return "its images are quantized; GridSample needs real ones";
  return std::nullopt;
}

int64_t GridSampleOpset(const Node& node) {
  const Type& x = node.input(0)->type();
  return x.ranked() && x.rank() == 4 ? 16 : 20;
}

}  // namespace

namespace {

constexpr ImportRow kGridSampleImports[] = {
    {.op = "GridSample", .since = 16, .import = ImportGridSample, .inputs = 2},
    {.op = "GridSample", .import = ImportGridSample, .inputs = 2, .domain = kMicrosoft},
};

constexpr ExportRow kGridSampleExports[] = {
    {.op = "grid_sample",
     .write = WriteGridSample,
     .why_not = WhyNotGridSample,
     .min_opset = GridSampleOpset},
};

}  // namespace

Family GridSampleFamily() {
  return {.imports = kGridSampleImports, .exports = kGridSampleExports};
}

}  // namespace nn::onnx
