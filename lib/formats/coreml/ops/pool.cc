#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "formats/coreml/family.h"
#include "formats/coreml/import/window.h"
#include "ops/nn/pool.h"
#include "ops/reduce/reduce.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

Status ReadPool(const Fields& p, const Dims& x, PoolAttrs& a) {
  NN_ASSIGN(a.kernel, p.Sizes("kernelSize", 2, 3));
  NN_ASSIGN(a.strides, p.Sizes("stride", 2, 1));
  if (p.OneOf("PoolingPaddingType") != "includeLastPixel")
    return ReadPadding(p, "PoolingPaddingType", a);
  NN_ASSIGN(const std::vector<int64_t> pads,
            p.Sub("includeLastPixel").Sizes("paddingAmounts", 2, 0));
  a.pads = {pads[0], pads[1], pads[0], pads[1]};
  a.ceil_mode = true;
  return CheckLastWindow(a, x, "includeLastPixel");
}

Status ImportGlobal(ImportContext& ctx, std::string_view type, std::vector<int64_t> axes) {
  NN_ASSIGN(Value* const x, ctx.Float(0));
  const std::string_view op = type == "MAX"  ? "reduce_max"
                              : type == "L2" ? "reduce_l2"
                                             : "reduce_mean";
  if (x->type().rank() < static_cast<int>(axes.size()))
    return ModelError("the input has unsupported rank {}", x->type().rank());
  return ctx.Emit(op, {x}, ReduceAttrs{std::move(axes), true});
}

Status ImportPooling(ImportContext& ctx) {
  const Fields& p = ctx.params();
  const std::string_view type = p.Enum("type");
  if (type.empty()) return ModelError("the pooling type is unknown");
  if (p.Bool("globalPooling")) return ImportGlobal(ctx, type, {-2, -1});
  NN_ASSIGN(Value* const x, ctx.Spatial(0));
  const Dims& dims = *x->type().dims;
  if (type == "MAX") {
    MaxPoolAttrs a;
    NN_RETURN_IF_ERROR(ReadPool(p, dims, a));
    return ctx.EmitSpatial("max_pool", {x}, std::move(a));
  }
  if (type == "AVERAGE") {
    AveragePoolAttrs a;
    NN_RETURN_IF_ERROR(ReadPool(p, dims, a));
    a.count_include_pad = !p.Bool("avgPoolExcludePadding");
    return ctx.EmitSpatial("average_pool", {x}, std::move(a));
  }
  LpPoolAttrs a;
  NN_RETURN_IF_ERROR(ReadPool(p, dims, a));
  return ctx.EmitSpatial("lp_pool", {x}, std::move(a));
}

Status ReadPool3(const Fields& p, PoolAttrs& a) {
  for (const char* axis : {"Depth", "Height", "Width"}) {
    NN_ASSIGN(const int64_t kernel, p.Size(std::string("kernel") + axis));
    NN_ASSIGN(const int64_t stride, p.Size(std::string("stride") + axis));
    a.kernel.push_back(kernel);
    a.strides.push_back(stride);
  }
  const std::string_view type = p.Enum("paddingType");
  if (type == "SAME") a.padding = Padding::kSameUpper;
  if (type != "CUSTOM") return {};
  for (const char* side : {"Front", "Top", "Left", "Back", "Bottom", "Right"}) {
    NN_ASSIGN(const int64_t v, p.Size(std::string("customPadding") + side));
    a.pads.push_back(v);
  }
  return {};
}

Status ImportPooling3d(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  if (x->type().rank() != 5)
    return ModelError("the input must have rank 5, not {}", x->type().rank());
  if (p.Enum("type") == "MAX") {
    MaxPoolAttrs a;
    NN_RETURN_IF_ERROR(ReadPool3(p, a));
    return ctx.Emit("max_pool", {x}, std::move(a));
  }
  AveragePoolAttrs a;
  NN_RETURN_IF_ERROR(ReadPool3(p, a));
  a.count_include_pad = !p.Bool("countExcludePadding");
  return ctx.Emit("average_pool", {x}, std::move(a));
}

Status ImportGlobalPooling3d(ImportContext& ctx) {
  return ImportGlobal(ctx, ctx.params().Enum("type"), {-3, -2, -1});
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

// The sizes of SAME padding are rounded up in any case.
bool RoundsUp(const PoolAttrs& a) {
  return a.ceil_mode && (a.padding == Padding::kExplicit || a.padding == Padding::kValid);
}

// The explicit padding; empty if there is none.
std::vector<int64_t> ExplicitPads(const PoolAttrs& a) {
  return a.padding == Padding::kExplicit ? a.pads : std::vector<int64_t>();
}

void WritePool3d(Writer p, const PoolAttrs& a) {
  constexpr std::array kAxes = {"Depth", "Height", "Width"};
  constexpr std::array kSides = {"Front", "Top", "Left", "Back", "Bottom", "Right"};
  const auto strides = OnesIfEmpty(a.strides, 3);
  for (size_t i = 0; i < kAxes.size(); ++i) {
    p.Int(std::string("kernel") + kAxes[i], a.kernel[i]);
    p.Int(std::string("stride") + kAxes[i], strides[i]);
  }
  if (a.padding == Padding::kSameUpper) {
    p.Enum("paddingType", "SAME");
  } else if (a.padding == Padding::kValid || a.pads.empty()) {
    p.Enum("paddingType", "VALID");
  } else {
    p.Enum("paddingType", "CUSTOM");
    for (size_t i = 0; i < kSides.size(); ++i)
      p.Int(std::string("customPadding") + kSides[i], a.pads[i]);
  }
}

Status WritePool(ExportContext& ctx, const Node& node, std::string_view type, const PoolAttrs& a,
                 bool exclude_padding) {
  if (a.kernel.size() == 3) {
    Writer p = ctx.AddLayer(node, "pooling3d");
    p.Enum("type", type);
    WritePool3d(p, a);
    p.Bool("countExcludePadding", exclude_padding);
    return {};
  }
  Writer p = ctx.AddLayer(node, "pooling");
  p.Enum("type", type);
  p.Ints("kernelSize", a.kernel);
  p.Ints("stride", OnesIfEmpty(a.strides, 2));
  if (RoundsUp(a)) {
    auto pads = ExplicitPads(a);
    pads.resize(4, 0);
    p.Sub("includeLastPixel").Ints("paddingAmounts", {pads[0], pads[1]});
  } else {
    WritePadding(p, a.padding, a.pads);
  }
  p.Bool("avgPoolExcludePadding", exclude_padding);
  return {};
}

Status WriteMaxPool(ExportContext& ctx, const Node& node) {
  return WritePool(ctx, node, "MAX", node.attrs<MaxPoolAttrs>(), false);
}
Status WriteAveragePool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  return WritePool(ctx, node, "AVERAGE", a, !a.count_include_pad);
}
Status WriteLpPool(ExportContext& ctx, const Node& node) {
  return WritePool(ctx, node, "L2", node.attrs<LpPoolAttrs>(), false);
}

// includeLastPixel has symmetric padding. Without padding it keeps a last window that starts past
// the input, which the graph drops.
std::optional<std::string> WhyNotCeil(const Node& node, const PoolAttrs& a) {
  const auto strides = OnesIfEmpty(a.strides, 2);
  const auto pads = ExplicitPads(a);
  bool padded = false;
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    if (pads[i] != pads[pads.size() / 2 + i]) return "ceil_mode needs symmetric padding";
    padded |= pads[i] > 0;
  }
  if (padded) return std::nullopt;
  for (size_t i = 0; i < a.kernel.size(); ++i) {
    const Dim& size = node.input(0)->type().dim(FirstSpatialAxis(a.layout) + static_cast<int>(i));
    const bool exact = size.is_const() && (size.value() - a.kernel[i]) % strides[i] == 0;
    if (strides[i] > a.kernel[i] && !exact)
      return "ceil_mode needs strides of at most the kernel size";
  }
  return std::nullopt;
}

std::optional<std::string> WhyNotPool(const Node& node, const PoolAttrs& a) {
  if (node.outputs().size() > 1) return "pooling has no output for the indices";
  if (std::any_of(a.dilations.begin(), a.dilations.end(), [](int64_t d) { return d != 1; }))
    return "its dilations must be 1";
  if (auto reason = WhyNotPads(a.pads)) return reason;
  const int rank = node.input(0)->type().rank();
  if (rank != 4 && rank != 5)
    return fmt::format("it must have 2 or 3 spatial axes, not {}", rank - 2);
  if (rank == 5 && RoundsUp(a)) return "ceil_mode is unsupported with 3 spatial axes";
  if (rank == 5 && a.padding == Padding::kSameLower)
    return "padding SAME_LOWER of 3 spatial axes is unsupported";
  if (auto reason = RoundsUp(a) ? WhyNotCeil(node, a) : std::nullopt) return reason;
  // The layout can be changed, so it is the reason only if nothing else is.
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
  return std::nullopt;
}

std::optional<std::string> WhyNotMaxPool(const Node& node) {
  return WhyNotPool(node, node.attrs<MaxPoolAttrs>());
}
std::optional<std::string> WhyNotAveragePool(const Node& node) {
  return WhyNotPool(node, node.attrs<AveragePoolAttrs>());
}
std::optional<std::string> WhyNotLpPool(const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  if (a.average || a.p != 2) return "L2 pooling needs p = 2 and a sum, not an average";
  if (a.kernel.size() == 3) return "L2 pooling of 3 spatial axes is unsupported";
  return WhyNotPool(node, a);
}

}  // namespace

namespace {

constexpr ImportRow kPoolImports[] = {
    {.layer = "pooling", .import = ImportPooling, .inputs = "a"},
    {.layer = "pooling3d", .import = ImportPooling3d, .inputs = "f"},
    {.layer = "globalPooling3d", .import = ImportGlobalPooling3d, .inputs = "a"},
};

constexpr ExportRow kPoolExports[] = {
    {.op = "max_pool", .write = WriteMaxPool, .why_not = WhyNotMaxPool},
    {.op = "average_pool", .write = WriteAveragePool, .why_not = WhyNotAveragePool},
    {.op = "lp_pool", .write = WriteLpPool, .why_not = WhyNotLpPool},
};

}  // namespace

Family PoolFamily() {
  return {.imports = kPoolImports, .exports = kPoolExports};
}

}  // namespace nn::coreml
