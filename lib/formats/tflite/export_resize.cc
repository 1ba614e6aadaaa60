#include <cmath>

#include "formats/tflite/export.h"
#include "ops/resize.h"

namespace nn::tflite {
namespace {

struct Corners {
  bool align_corners = false;
  bool half_pixel = false;
};

// Whether every spatial axis grows by a whole factor.
bool WholeFactors(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  for (const float s : a.scales)
    if (s < 1 || s != std::floor(s)) return false;
  if (!a.scales.empty()) return true;
  const Dims& x = *node.input(0)->type().dims;
  const Dims& y = *node.output()->type().dims;
  for (size_t i = 1; i + 1 < x.size(); ++i)
    if (!x[i].is_const() || !y[i].is_const() || x[i].value() == 0 ||
        y[i].value() % x[i].value() != 0)
      return false;
  return true;
}

// How the positions are computed, where the operators have a way for it.
std::optional<Corners> CornersOf(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  using C = Coordinates;
  const bool half = a.coordinates == C::kHalfPixel || a.coordinates == C::kPytorchHalfPixel;
  if (a.mode == ResizeMode::kLinear) {
    if (half) return Corners{false, true};
    if (a.coordinates == C::kAlignCorners) return Corners{true, false};
    if (a.coordinates == C::kAsymmetric) return Corners{};
    return std::nullopt;
  }
  using R = NearestRounding;
  // floor(p + 1/2) is a floor under half-pixel centres; without halves either rounding is that.
  const bool rounds_up = a.rounding == R::kRoundPreferCeil ||
                         (a.rounding == R::kRoundPreferFloor && WholeFactors(node));
  if (half && rounds_up) return Corners{false, true};
  if (a.coordinates == C::kTfHalfPixelForNn && a.rounding == R::kFloor) return Corners{false, true};
  if (a.coordinates == C::kAlignCorners && a.rounding == R::kRoundPreferCeil)
    return Corners{true, false};
  if (a.coordinates == C::kAsymmetric && (a.rounding == R::kFloor || a.rounding == R::kSimple) &&
      (a.rounding == R::kFloor || WholeFactors(node)))
    return Corners{};
  return std::nullopt;
}

Status WriteResize(ExportContext& ctx, const Node& node) {
  const Corners c = *CornersOf(node);
  const Dims& dims = *node.output()->type().dims;
  NN_ASSIGN(const TensorIndex sizes, ctx.AddDims({dims[1], dims[2]}, "size"));
  VersionTraits traits;
  traits.align_corners = c.align_corners;
  traits.half_pixel = c.half_pixel;
  std::vector<TensorIndex> inputs = {ctx.TensorOf(node.input(0)), sizes};
  if (node.attrs<ResizeAttrs>().mode == ResizeMode::kLinear)
    ctx.AddOperator(fb::BuiltinOperator::RESIZE_BILINEAR, inputs, ctx.ResultsOf(node),
                    fb::CreateResizeBilinearOptions(ctx.builder(), c.align_corners, c.half_pixel),
                    traits);
  else
    ctx.AddOperator(
        fb::BuiltinOperator::RESIZE_NEAREST_NEIGHBOR, inputs, ctx.ResultsOf(node),
        fb::CreateResizeNearestNeighborOptions(ctx.builder(), c.align_corners, c.half_pixel),
        traits);
  return {};
}

// Scales other than the quotient of the sizes give other positions.
bool ScalesAreQuotients(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  const Dims& x = *node.input(0)->type().dims;
  const Dims& y = *node.output()->type().dims;
  for (size_t i = 0; i < a.scales.size(); ++i) {
    if (a.scales[i] >= 1 && a.scales[i] == std::floor(a.scales[i])) continue;
    if (!x[i + 1].is_const() || !y[i + 1].is_const()) return false;
    if (a.scales[i] * static_cast<float>(x[i + 1].value()) != static_cast<float>(y[i + 1].value()))
      return false;
  }
  return true;
}

std::optional<std::string> WhyNotResize(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (auto reason = WhyNotReal(node)) return reason;
  if (node.output()->type().rank() != 4) return "a rank other than 4";
  if (a.layout != Layout::kNxc) return "channels are not last";
  if (node.inputs().size() > 1) return "its sizes are not constant";
  const Dims& y = *node.output()->type().dims;
  if (!y[1].is_const() || !y[2].is_const())
    return "sizes that only the run can tell; give shapes with --input-shape or --batch";
  if (y[1] == 0 || y[2] == 0) return "a size of 0";
  if (a.mode == ResizeMode::kCubic) return "cubic interpolation";
  if (a.antialias || a.exclude_outside) return "filters that depend on the scale";
  if (!CornersOf(node))
    return fmt::format("coordinates {} with rounding {}", EnumName(a.coordinates),
                       EnumName(a.rounding));
  if (!ScalesAreQuotients(node)) return "scales that are not the quotient of the sizes";
  return std::nullopt;
}

}  // namespace

void AddResizeExports(std::vector<ExportRow>& rows) {
  rows.push_back({"resize", WriteResize, WhyNotResize});
}

}  // namespace nn::tflite
