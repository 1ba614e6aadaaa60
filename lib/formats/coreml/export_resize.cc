#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "formats/coreml/export.h"
#include "ops/blocks.h"
#include "ops/resize.h"

namespace nn::coreml {
namespace {

// Whole factors of H and W, stated or such that they give the sizes.
std::optional<std::vector<int64_t>> WholeFactors(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  std::vector<int64_t> out;
  for (const float s : a.scales) {
    if (std::floor(s) != s || s < 1 || s > 0x1p20f) return std::nullopt;
    out.push_back(static_cast<int64_t>(s));
  }
  if (!out.empty()) return out;
  const Type& x = node.input(0)->type();
  for (size_t i = 0; i < a.sizes.size(); ++i) {
    const Dim& size = x.dim(static_cast<int>(i) + 2);
    if (!a.sizes[i].is_const() || !size.is_const() || size.value() == 0 ||
        a.sizes[i].value() % size.value() != 0 || a.sizes[i].value() == 0)
      return std::nullopt;
    out.push_back(a.sizes[i].value() / size.value());
  }
  return out;
}

// The sizes of the result if they are the same in every run.
std::optional<std::vector<int64_t>> FixedSizes(const Node& node) {
  const Dims& dims = *node.output()->type().dims;
  return ConstDims(Dims(dims.begin() + 2, dims.end()));
}

// Scales that are not those of the sizes: n and m with s * n rounded.
bool ScalesAreOfSizes(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  const auto in = node.input(0)->type().const_dims(), out = node.output()->type().const_dims();
  if (a.scales.empty()) return true;
  if (!in || !out) return WholeFactors(node).has_value();
  for (size_t i = 0; i < a.scales.size(); ++i)
    if (static_cast<float>((*out)[2 + i]) / static_cast<float>((*in)[2 + i]) != a.scales[i])
      return false;
  return true;
}

// How it is written: as upsample by whole factors, or as resizeBilinear to fixed sizes.
enum class Form : uint8_t { kNone, kUpsample, kBilinear };
Form FormOf(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  const bool whole = WholeFactors(node).has_value();
  if (a.mode == ResizeMode::kNearest)
    return whole && a.coordinates == Coordinates::kAsymmetric &&
                   a.rounding == NearestRounding::kFloor
               ? Form::kUpsample
               : Form::kNone;
  if (a.mode != ResizeMode::kLinear || !ScalesAreOfSizes(node)) return Form::kNone;
  if (a.coordinates == Coordinates::kHalfPixel) return whole ? Form::kUpsample : Form::kNone;
  if (a.coordinates != Coordinates::kAsymmetric && a.coordinates != Coordinates::kAlignCorners)
    return Form::kNone;
  return FixedSizes(node) ? Form::kBilinear : whole ? Form::kUpsample : Form::kNone;
}

Status WriteResize(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (FormOf(node) == Form::kBilinear) {
    Writer p = ctx.AddLayer(node, "resizeBilinear", 1);
    p.Ints("targetSize", *FixedSizes(node));
    p.Sub("mode").Enum("samplingMethod", a.coordinates == Coordinates::kAsymmetric
                                             ? "UPSAMPLE_MODE"
                                             : "STRICT_ALIGN_ENDPOINTS_MODE");
    return {};
  }
  Writer p = ctx.AddLayer(node, "upsample", 1);
  p.Ints("scalingFactor", *WholeFactors(node));
  if (a.mode == ResizeMode::kNearest) return {};
  p.Enum("mode", "BILINEAR");
  if (a.coordinates == Coordinates::kAsymmetric) return {};
  p.Enum("linearUpsampleMode",
         a.coordinates == Coordinates::kHalfPixel ? "ALIGN_CORNERS_FALSE" : "ALIGN_CORNERS_TRUE");
  ctx.RequireVersion(5);
  return {};
}

std::optional<std::string> WhyNotResize(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (node.input(0)->type().rank() != 4) return "a resize of other than two axes";
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (node.input(i) != nullptr) return "sizes that are only known in a run";
  if (node.arithmetic() != Arithmetic::kDefault)
    return "positions as TensorFlow Lite computes them";
  if (a.antialias || a.exclude_outside || a.aspect != AspectPolicy::kStretch)
    return "antialiasing, weights cut at the border or sizes by aspect";
  if (FormOf(node) == Form::kNone)
    return fmt::format("a resize of mode {} with coordinates {} to these sizes", EnumName(a.mode),
                       EnumName(a.coordinates));
  return std::nullopt;
}

template <bool to_space>
Status WriteBlocks(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  const bool shuffle = a.mode == DepthOrder::kCrd;
  Writer p = ctx.AddLayer(node, "reorganizeData");
  p.Enum("mode", !to_space ? "SPACE_TO_DEPTH" : shuffle ? "PIXEL_SHUFFLE" : "DEPTH_TO_SPACE");
  p.Int("blockSize", a.block);
  if (shuffle) ctx.RequireVersion(5);
  return {};
}

template <bool to_space>
std::optional<std::string> WhyNotBlocks(const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (node.input(0)->type().rank() != 4) return "blocks of other than two axes";
  if (a.block < 2) return "blocks of one element";
  if (!to_space && a.mode == DepthOrder::kCrd) return "blocks innermost in the channels";
  return std::nullopt;
}

}  // namespace

void AddResizeExports(std::vector<ExportRow>& rows) {
  rows.push_back({"resize", WriteResize, WhyNotResize});
  rows.push_back({"depth_to_space", WriteBlocks<true>, WhyNotBlocks<true>, Types::kAny});
  rows.push_back({"space_to_depth", WriteBlocks<false>, WhyNotBlocks<false>, Types::kAny});
}

}  // namespace nn::coreml
