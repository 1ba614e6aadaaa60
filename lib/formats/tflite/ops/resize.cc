#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "formats/tflite/family.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/types.h"

namespace nn::tflite {
namespace {

constexpr size_t kSizes = 3;  // the input of resize with sizes that are computed

}  // namespace

// ==== From TensorFlow Lite =======================================================================

namespace {

Status EmitResize(ImportContext& ctx, ResizeAttrs a) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  if (x->type().rank() != 4)
    return ModelError("the input must have rank 4; it is {}", x->type().ToString());
  a.layout = Layout::kNxc;
  NN_RETURN_IF_ERROR(ctx.Required(1));
  std::vector<Value*> inputs = {x};
  if (const auto sizes = ctx.Elements(1); sizes && KnownBeforeRun(*sizes)) {
    if (sizes->size() != 2) return ModelError("{} sizes for two axes", sizes->size());
    a.sizes = *sizes;
  } else {
    inputs.resize(kSizes + 1, nullptr);
    inputs[kSizes] = ctx.input(1);
  }
  NN_RETURN_IF_ERROR(ctx.Emit("resize", std::move(inputs), std::move(a)));
  // TensorFlow Lite computes positions with its own rounding steps, for floats too.
  ctx.outputs()[0]->def()->set_arithmetic(Arithmetic::kTflite);
  return {};
}

Status ImportBilinear(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ResizeBilinearOptions>());
  if (o->align_corners() && o->half_pixel_centers())
    return ModelError("align_corners and half_pixel_centers cannot both be set");
  ResizeAttrs a;
  a.mode = ResizeMode::kLinear;
  a.coordinates = o->align_corners()        ? Coordinates::kAlignCorners
                  : o->half_pixel_centers() ? Coordinates::kHalfPixel
                                            : Coordinates::kAsymmetric;
  return EmitResize(ctx, std::move(a));
}

// Positions are rounded down; with align_corners, to nearest with halves up.
Status ImportNearest(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ResizeNearestNeighborOptions>());
  if (o->align_corners() && o->half_pixel_centers())
    return UnsupportedError("align_corners and half_pixel_centers cannot both be set");
  ResizeAttrs a;
  a.mode = ResizeMode::kNearest;
  a.coordinates = o->align_corners()        ? Coordinates::kAlignCorners
                  : o->half_pixel_centers() ? Coordinates::kTfHalfPixelForNn
                                            : Coordinates::kAsymmetric;
  a.rounding = o->align_corners() ? NearestRounding::kRoundPreferCeil : NearestRounding::kFloor;
  return EmitResize(ctx, std::move(a));
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

struct Corners {
  bool align_corners = false;
  bool half_pixel = false;
};

// The sizes of a spatial axis before and after.
struct Spatial {
  Dim from, to;

  bool known() const { return from.is_const() && to.is_const(); }
};

std::vector<Spatial> SpatialOf(const Node& node) {
  const auto first = static_cast<size_t>(FirstSpatialAxis(node.attrs<ResizeAttrs>().layout));
  const Dims& x = *node.input(0)->type().dims;
  const Dims& y = *node.output()->type().dims;
  std::vector<Spatial> out;
  for (size_t i = 0; i + 2 < x.size(); ++i) out.push_back({x[first + i], y[first + i]});
  return out;
}

// Whether every spatial axis is scaled up by an integer factor.
bool WholeFactors(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  for (const float s : a.scales)
    if (s < 1 || s != std::floor(s)) return false;
  if (!a.scales.empty()) return true;
  for (const Spatial& s : SpatialOf(node))
    if (!s.known() || s.from.value() == 0 || s.to.value() % s.from.value() != 0) return false;
  return true;
}

// Whether an axis may become one element at position 0. With half-pixel centers it is in the
// middle.
bool ReadsFirst(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (a.coordinates != Coordinates::kPytorchHalfPixel) return false;
  const auto spatial = SpatialOf(node);
  for (size_t i = 0; i < spatial.size(); ++i) {
    const auto& [from, to] = spatial[i];
    const bool grows = i < a.scales.size() && a.scales[i] >= 2;
    if (to.is_const() ? to == 1 && !(from == 1) : !grows && !(to == from)) return true;
  }
  return false;
}

// The coordinate options of the operators; nullopt if there are none for the node.
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
  // floor(p + 1/2) equals floor with half-pixel centers; without ties, so does either rounding.
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
  const Value* const computed = node.input(kSizes);
  NN_ASSIGN(const TensorIndex sizes, computed != nullptr
                                         ? Result<TensorIndex>(ctx.TensorAs(computed, DType::kI32))
                                         : ctx.AddDims({dims[1], dims[2]}, "size"));
  VersionTraits traits;
  traits.align_corners = c.align_corners;
  traits.half_pixel = c.half_pixel;
  std::vector<TensorIndex> inputs = {ctx.TensorOf(node.input(0)), sizes};
  if (node.attrs<ResizeAttrs>().mode == ResizeMode::kLinear)
    ctx.AddOperator(fb::BuiltinOperator::RESIZE_BILINEAR, {ctx.ResultsOf(node), inputs},
                    fb::CreateResizeBilinearOptions(ctx.builder(), c.align_corners, c.half_pixel),
                    traits);
  else
    ctx.AddOperator(
        fb::BuiltinOperator::RESIZE_NEAREST_NEIGHBOR, {ctx.ResultsOf(node), inputs},
        fb::CreateResizeNearestNeighborOptions(ctx.builder(), c.align_corners, c.half_pixel),
        traits);
  return {};
}

// Scales other than the quotient of the sizes give different positions.
bool ScalesAreQuotients(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  const auto spatial = SpatialOf(node);
  for (size_t i = 0; i < a.scales.size(); ++i) {
    if (a.scales[i] >= 1 && a.scales[i] == std::floor(a.scales[i])) continue;
    if (!spatial[i].known()) return false;
    if (a.scales[i] * static_cast<float>(spatial[i].from.value()) !=
        static_cast<float>(spatial[i].to.value()))
      return false;
  }
  if (!a.scales.empty() || a.aspect == AspectPolicy::kStretch) return true;
  // All axes have one scale, the quotient of the sizes of one of them.
  for (const Spatial& s : spatial) {
    const Spatial& first = spatial[0];
    if (!s.known() || !first.known() ||
        s.to.value() * first.from.value() != first.to.value() * s.from.value())
      return false;
  }
  return true;
}

// Limit of TensorFlow Lite: elements along an axis of a nearest resize.
constexpr int64_t kLongestAxis = int64_t{1} << 20;

// Why `nearest` selects other elements with the positions of TensorFlow Lite, which multiplies by a
// rounded quotient. A stand-in takes the place of an open size that is multiplied.
std::optional<std::string> WhyNotTheSame(const Node& node) {
  constexpr int64_t kOpenSize = 1024;
  const auto& a = node.attrs<ResizeAttrs>();
  if (a.mode != ResizeMode::kNearest || node.arithmetic() == Arithmetic::kTflite)
    return std::nullopt;
  const auto spatial = SpatialOf(node);
  std::vector<int64_t> from, to;
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (!spatial[i].known() && a.scales.empty()) return std::nullopt;
    from.push_back(spatial[i].known() ? spatial[i].from.value() : kOpenSize);
    to.push_back(spatial[i].known()
                     ? spatial[i].to.value()
                     : kOpenSize * static_cast<int64_t>(std::min(a.scales[i], 0x1p30F)));
    if (to.back() > kLongestAxis)
      return fmt::format("an axis of {} elements is too long; at most {}", to.back(), kLongestAxis);
  }
  const auto axes = ResizeAxes(a, Arithmetic::kDefault, {{}, to, {}}, from, to);
  const auto rounded = ResizeAxes(a, Arithmetic::kTflite, {{}, to, {}}, from, to);
  if (axes && rounded &&
      std::ranges::equal(*axes, *rounded, {}, &ResizeAxis::index, &ResizeAxis::index))
    return std::nullopt;
  return "TensorFlow Lite rounds the position of an element to that of another one; set input "
         "shapes with --input-shape";
}

std::optional<std::string> WhyNotResize(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  const Op op = a.mode == ResizeMode::kNearest ? Op::RESIZE_NEAREST_NEIGHBOR : Op::RESIZE_BILINEAR;
  if (auto reason = WhyNotElements(op, 0, node.input(0)->type())) return reason;
  if (node.input(1) != nullptr || node.input(2) != nullptr) return "its scales must be constant";
  if (node.output()->type().rank() != 4) return "its sizes must be constant unless its rank is 4";
  for (const Spatial& s : SpatialOf(node))
    if (s.to == 0) return "its output cannot be empty";
  for (const Spatial& s : SpatialOf(node))
    if (!s.from.is_const() && (a.mode == ResizeMode::kCubic || a.antialias || a.exclude_outside))
      return "its input size must be constant; set input shapes with --input-shape";
  if (a.mode == ResizeMode::kCubic) return "TensorFlow Lite has no cubic interpolation";
  if (a.antialias || a.exclude_outside) return "antialias and exclude_outside are unsupported";
  if (!CornersOf(node))
    return a.mode == ResizeMode::kLinear
               ? fmt::format("TensorFlow Lite has no coordinate mode {}", EnumName(a.coordinates))
               : fmt::format("TensorFlow Lite has no coordinate mode {} with rounding {}",
                             EnumName(a.coordinates), EnumName(a.rounding));
  if (ReadsFirst(node))
    return "pytorch_half_pixel reads the first element where an axis becomes 1; half-pixel "
           "centers of TensorFlow Lite are in the middle; set input shapes with --input-shape";
  if (!ScalesAreQuotients(node))
    return "its scales must be the quotient of its sizes; set input shapes with --input-shape";
  if (auto reason = WhyNotTheSame(node)) return reason;
  if (a.layout != Layout::kNxc) return "the channels must be the last axis";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kResizeImports[] = {
    {.op = Op::RESIZE_BILINEAR, .import = ImportBilinear},
    {.op = Op::RESIZE_NEAREST_NEIGHBOR, .import = ImportNearest},
};

constexpr ExportRow kResizeExports[] = {
    {.op = "resize", .write = WriteResize, .why_not = WhyNotResize},
};

}  // namespace

Family ResizeFamily() {
  return {.imports = kResizeImports, .exports = kResizeExports};
}

}  // namespace nn::tflite
