#include "ops/nn/resize/resize_alike.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace nn {
namespace {

// Limit of all formats: size of an axis of a resize that Core ML or NNAPI has with other
// attributes. Larger ones are not compared.
constexpr int64_t kMaxCompared = int64_t{1} << 16;
// The largest sum of differences of an element's weights. Positions are rounded, which moves them
// by a few units in the last place.
constexpr double kMaxMoved = 0x1p-16;

bool AreAlike(const ResizeAxis& a, const ResizeAxis& b) {
  const auto is_outside = [](uint8_t outside) { return outside != 0; };
  if (a.size() != b.size() || std::ranges::any_of(a.outside, is_outside) ||
      std::ranges::any_of(b.outside, is_outside))
    return false;
  for (int64_t i = 0; i < a.size(); ++i) {
    std::map<int64_t, double> differences;  // by element of the input
    const auto add = [&](const ResizeAxis& axis, double sign) {
      for (auto k = static_cast<size_t>(i * axis.taps);
           k < static_cast<size_t>((i + 1) * axis.taps); ++k)
        differences[axis.index[k]] += sign * static_cast<double>(axis.weight[k]);
    };
    add(a, 1);
    add(b, -1);
    double sum = 0;
    for (const auto& [element, difference] : differences) sum += std::fabs(difference);
    if (!(sum <= kMaxMoved)) return false;
  }
  return true;
}

}  // namespace

bool ResizesAs(const Node& node, const ResizeAttrs& other) {
  const auto& a = node.attrs<ResizeAttrs>();
  const auto is_given = [](const Value* v) { return v != nullptr; };
  const Type &x = node.input(0)->type(), &y = node.output()->type();
  if (!x.ranked() || !y.ranked() || std::ranges::any_of(node.inputs().subspan(1), is_given))
    return false;
  const auto input = ConstDims(SpatialDims(*x.dims, a.layout));
  const auto output = ConstDims(SpatialDims(*y.dims, a.layout));
  const auto sizes = ConstDims(a.sizes);
  if (!input || !output || !sizes) return false;
  for (const auto* dims : {&*input, &*output})
    if (std::ranges::any_of(*dims, [](int64_t n) { return n < 1 || n > kMaxCompared; }))
      return false;
  const auto axes = ResizeAxes(a, node.arithmetic(), {a.scales, *sizes, a.roi}, *input, *output);
  const auto wanted =
      ResizeAxes(other, Arithmetic::kDefault, {{}, *output, other.roi}, *input, *output);
  return axes && wanted && std::ranges::equal(*axes, *wanted, AreAlike);
}

}  // namespace nn
