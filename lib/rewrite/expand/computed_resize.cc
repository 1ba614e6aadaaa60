// resize by numbers that only a run knows, as sums of elements gathered at computed positions.
#include <numeric>
#include <optional>

#include "ops/array/shape_of.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"
#include "rewrite/expand/cubic.h"

namespace nn {
namespace {

// Sizes up to this are exact in float32, in which positions are computed.
constexpr int64_t kMaxExactSize = int64_t{1} << 24;

// One spatial axis. All terms but `input` are vectors of float32: of one element, or of one for
// each element of the result.
struct ComputedAxis {
  int64_t at;       // in the tensor
  Term input;       // n, also as a number
  Term output;      // m
  Term scale;       // s
  Term target;      // m' of kAlignCorners
  Term begin, end;  // of the region, for kCrop
  Term position;
};

class ComputedResize {
 public:
  // x: the first operand of the node, or the same without its first axes.
  ComputedResize(const Node& node, Value* x) : node_(node), a_(node.attrs<ResizeAttrs>()), x_(x) {}

  Term Result() const {
    Term y = x_;
    std::vector<ComputedAxis> axes;
    for (size_t k = 0; k < count(); ++k) axes.push_back(AxisOf(k));
    for (size_t k = count(); k-- > 0;) y = Along(y, axes[k]);
    for (const ComputedAxis& axis : axes)
      if (a_.coordinates == Coordinates::kCrop)
        y = Select(AsAxis(Outside(axis), axis), a_.extrapolation_value, y);
    return y;
  }

 private:
  size_t count() const { return static_cast<size_t>(node_.input(0)->type().rank() - 2); }
  const Value* operand(size_t i) const {
    return i < node_.inputs().size() ? node_.input(i) : nullptr;
  }

  // Number k of an operand, or of the attribute in its place.
  template <typename T>
  Term NumberOf(size_t input, const std::vector<T>& given, size_t k) const {
    const auto at = static_cast<int64_t>(k);
    if (operand(input) == nullptr) return Tensor::Of<float>({1}, {static_cast<float>(given[k])});
    return Cast(Slice(node_.input(input), 0, at, at + 1), DType::kF32);
  }

  ComputedAxis AxisOf(size_t k) const {
    constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;
    ComputedAxis axis;
    const int removed = node_.input(0)->type().rank() - x_->type().rank();
    axis.at = FirstSpatialAxis(a_.layout) + static_cast<int64_t>(k) - removed;
    const Dim& n = x_->type().dim(static_cast<int>(axis.at));
    axis.input = n.is_const() ? Term(n.value()) : Cast(SizeOfAxis(x_, axis.at), DType::kF32);
    if (a_.coordinates == Coordinates::kCrop) {
      axis.begin = NumberOf(kRoi, a_.roi, k);
      axis.end = NumberOf(kRoi, a_.roi, count() + k);
    }
    if (operand(kSizes) != nullptr || !a_.sizes.empty()) {
      std::vector<int64_t> sizes;
      for (const Dim& d : a_.sizes) sizes.push_back(d.value());
      axis.target = axis.output = NumberOf(kSizes, sizes, k);
      axis.scale = axis.output / axis.input;
    } else {
      axis.scale = NumberOf(kScales, a_.scales, k);
      axis.target = axis.scale * axis.input;
      const bool crops = a_.coordinates == Coordinates::kCrop;
      axis.output = Apply("floor", {crops ? axis.target * (axis.end - axis.begin) : axis.target});
    }
    axis.position = PositionOf(axis);
    return axis;
  }

  // As Position() of the operator, in the same steps.
  Term PositionOf(const ComputedAxis& axis) const {
    const Term &n = axis.input, &m = axis.output, &s = axis.scale;
    const Term last = Squeeze(Cast(m, DType::kI32), {0});
    const Term i = Cast(Apply("range", {0, last, 1}), DType::kF32);
    const Term half = (i + 0.5) / s - 0.5;
    switch (a_.coordinates) {
      case Coordinates::kHalfPixel:
        return half;
      case Coordinates::kPytorchHalfPixel:
        return Select(Greater(m, 1), half, 0);
      case Coordinates::kHalfPixelSymmetric:
        return n / 2 * (1 - m / (s * n)) + (i + 0.5) / s - 0.5;
      case Coordinates::kAlignCorners:
        return Select(Equal(axis.target, 1), 0, i * (n - 1) / (axis.target - 1));
      case Coordinates::kAsymmetric:
        return i / s;
      case Coordinates::kTfHalfPixelForNn:
        return (i + 0.5) / s;
      case Coordinates::kCrop:
        return Select(Equal(m, 1), (axis.begin + axis.end) * 0.5 * (n - 1),
                      axis.begin * (n - 1) + i * (axis.end - axis.begin) * (n - 1) / (m - 1));
    }
    return {};
  }

  static Term Inside(const Term& position, const ComputedAxis& axis) {
    return Minimum(Maximum(position, 0), axis.input - 1);
  }

  static Term Outside(const ComputedAxis& axis) {
    return Or(Less(axis.position, 0), Greater(axis.position, axis.input - 1));
  }

  // A vector along the axis, for elementwise operators.
  Term AsAxis(const Term& v, const ComputedAxis& axis) const {
    std::vector<int64_t> others;
    for (int64_t d = 0; d < x_->type().rank(); ++d)
      if (d != axis.at) others.push_back(d);
    return others.empty() ? v : ExpandDims(v, std::move(others));
  }

  static Term Elements(const Term& x, const Term& index, const ComputedAxis& axis) {
    return Gather(x, Cast(Inside(index, axis), DType::kI32), axis.at);
  }

  Term Along(const Term& x, const ComputedAxis& axis) const {
    const bool is_linear = a_.mode == ResizeMode::kLinear;
    const Term p = is_linear ? Inside(axis.position, axis) : axis.position;
    const Term floor = Apply("floor", {p});
    const Term d = p - floor;
    if (a_.mode == ResizeMode::kNearest) return Elements(x, Nearest(floor, d, axis), axis);
    std::vector<Term> indices, weights;
    if (is_linear) {
      indices = {floor, floor + 1};
      weights = {1 - d, d};
    } else {
      indices = {floor - 1, floor, floor + 1, floor + 2};
      const float a = a_.cubic_coeff_a;
      weights = {CubicWeight(d + 1, a, false), CubicWeight(d, a, true), CubicWeight(1 - d, a, true),
                 CubicWeight(2 - d, a, false)};
      if (a_.exclude_outside) Normalize(indices, weights, axis);
    }
    Term sum;
    for (size_t t = 0; t < indices.size(); ++t) {
      const Term v = Elements(x, indices[t], axis) * AsAxis(weights[t], axis);
      sum = sum.is_absent() ? v : sum + v;
    }
    return sum;
  }

  // Weights of elements outside the axis become 0, and the sum of all 1.
  static void Normalize(const std::vector<Term>& indices, std::vector<Term>& weights,
                        const ComputedAxis& axis) {
    Term sum;
    for (size_t t = 0; t < weights.size(); ++t) {
      weights[t] = Select(Equal(indices[t], Inside(indices[t], axis)), weights[t], 0);
      sum = sum.is_absent() ? weights[t] : sum + weights[t];
    }
    for (Term& w : weights) w = w / sum;
  }

  // The index of the element at a position, of which `d` is the part after its floor.
  Term Nearest(const Term& floor, const Term& d, const ComputedAxis& axis) const {
    Term is_next;
    switch (a_.rounding) {
      case NearestRounding::kRoundPreferFloor:
        is_next = Greater(d, 0.5);
        break;
      case NearestRounding::kRoundPreferCeil:
        is_next = GreaterEqual(d, 0.5);
        break;
      case NearestRounding::kFloor:
        return floor;
      case NearestRounding::kCeil:
        is_next = Greater(d, 0);
        break;
      case NearestRounding::kSimple:
        is_next = And(Less(axis.scale, 1), Greater(d, 0));
        break;
    }
    return Select(is_next, floor + 1, floor);
  }

  const Node& node_;
  const ResizeAttrs& a_;
  Value* x_;
};

// Whether the first two axes are no axes of the resize, and of size 1.
bool HasUnitAxesFirst(const Value* x, Layout layout) {
  return layout == Layout::kNcx && x->type().dim(0) == 1 && x->type().dim(1) == 1;
}

}  // namespace

Result<bool> ExpandComputedResize(Graph& graph, Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  Value* const x = node.input(0);
  const Type& type = x->type();
  const auto spatial = SpatialDims(*type.dims, a.layout);
  const bool selects = a.mode == ResizeMode::kNearest && a.coordinates != Coordinates::kCrop;
  if (node.inputs().size() < 2 || node.arithmetic() != Arithmetic::kDefault ||
      a.aspect != AspectPolicy::kStretch || (a.antialias && a.mode != ResizeMode::kNearest) ||
      (!selects && !IsPlainF32(node)))
    return false;
  for (const Dim& n : spatial)
    if (n == 0 || (n.is_const() && n.value() > kMaxExactSize)) return false;
  if (!a.sizes.empty() && !ConstDims(a.sizes)) return false;
  Expansion e(graph, node);
  if (spatial.size() < 3 || !HasUnitAxesFirst(x, a.layout))
    return e.Replace(ComputedResize(node, x).Result());
  // Batch and channels of size 1 are left out, so that targets with at most five axes have the
  // rest.
  NN_ASSIGN(Value* const inner, e.Build(Squeeze(x, {0, 1})));
  return e.Replace(ExpandDims(ComputedResize(node, inner).Result(), {0, 1}));
}

}  // namespace nn
