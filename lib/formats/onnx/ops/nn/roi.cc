#include "ops/nn/detect/roi.h"
#include "base/text/text.h"
#include "formats/onnx/family.h"

namespace nn::onnx {
namespace {

// ==== From ONNX ==================================================================================

constexpr char kHalfPixel[] = "half_pixel", kOutputHalfPixel[] = "output_half_pixel";

Status ImportRoiAlign(ImportContext& ctx) {
  RoiAlignAttrs a;
  NN_ASSIGN(a.mode, ctx.Enum("mode", RoiMode::kAvg));
  a.height = ctx.Int("output_height", 1);
  a.width = ctx.Int("output_width", 1);
  a.sampling_ratio = ctx.Int("sampling_ratio", 0);
  a.spatial_scale = ctx.Float("spatial_scale", 1);
  // Version 10 has no offset.
  const std::string transform = ctx.String("coordinate_transformation_mode",
                                           ctx.opset() < 16 ? kOutputHalfPixel : kHalfPixel);
  a.half_pixel = transform == kHalfPixel;
  if (!a.half_pixel && transform != kOutputHalfPixel)
    return ModelError("unknown coordinate_transformation_mode {}", Quote(transform));
  return ctx.Emit("roi_align", ctx.Inputs(3), a);
}

Status ImportMaxRoiPool(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const rois = ctx.input(1);
  const auto shape = ctx.Ints("pooled_shape");
  if (shape.size() != 2) return ModelError("pooled_shape has {} entries; expected 2", shape.size());
  return ctx.Emit("max_roi_pool", {x, rois},
                  MaxRoiPoolAttrs{Layout::kNcx, shape[0], shape[1], ctx.Float("spatial_scale", 1)});
}

// ==== To ONNX ====================================================================================

Status WriteRoiAlign(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<RoiAlignAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "RoiAlign",
                                   {{ctx.NameOf(node.output())},
                                    {ctx.NameOf(node.input(0)), ctx.NameOf(node.input(1)),
                                     ctx.NameAs(node.input(2), DType::kI64)}});
  SetString(out, "mode", EnumName(a.mode));
  SetInt(out, "output_height", a.height);
  SetInt(out, "output_width", a.width);
  SetInt(out, "sampling_ratio", a.sampling_ratio);
  SetFloat(out, "spatial_scale", a.spatial_scale);
  if (ctx.opset() >= 16)
    SetString(out, "coordinate_transformation_mode", a.half_pixel ? kHalfPixel : kOutputHalfPixel);
  return {};
}

Status WriteMaxRoiPool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MaxRoiPoolAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "MaxRoiPool");
  SetInts(out, "pooled_shape", {a.height, a.width});
  SetFloat(out, "spatial_scale", a.spatial_scale);
  return {};
}

template <typename A>
std::optional<std::string> WhyNotRegions(const Node& node) {
  if (node.attrs<A>().layout != Layout::kNcx) return "the channels must be axis 1";
  return std::nullopt;
}

int64_t RoiAlignOpset(const Node& node) {
  return node.attrs<RoiAlignAttrs>().half_pixel ? 16 : 10;
}

constexpr ImportRow kRoiImports[] = {
    {.op = "RoiAlign", .since = 10, .import = ImportRoiAlign, .inputs = 3},
    {.op = "MaxRoiPool", .since = 1, .import = ImportMaxRoiPool, .inputs = 2},
};

constexpr ExportRow kRoiExports[] = {
    {.op = "roi_align",
     .write = WriteRoiAlign,
     .why_not = WhyNotRegions<RoiAlignAttrs>,
     .min_opset = RoiAlignOpset},
    {.op = "max_roi_pool", .write = WriteMaxRoiPool, .why_not = WhyNotRegions<MaxRoiPoolAttrs>},
};

}  // namespace

Family RoiFamily() {
  return {.imports = kRoiImports, .exports = kRoiExports};
}

}  // namespace nn::onnx
