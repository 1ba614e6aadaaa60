#include "ir/tensor_bounds.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace nn {
namespace {

// Conversion to double keeps the order, so integers are compared as such.
template <typename T>
std::optional<Interval> BoundsOfElements(const Tensor& aligned) {
  const auto elements = aligned.As<T>();
  T min = elements[0], max = elements[0];
  bool has_nan = false;
  for (const T x : elements) {
    if constexpr (std::is_floating_point_v<T>) has_nan |= std::isnan(x);
    min = std::min(min, x);
    max = std::max(max, x);
  }
  if (has_nan) return std::nullopt;
  return Interval{static_cast<double>(min), static_cast<double>(max)};
}

std::optional<Interval> BoundsOfAny(const Tensor& tensor) {
  Interval bounds{tensor.GetDouble(0), tensor.GetDouble(0)};
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double x = tensor.GetDouble(i);
    if (std::isnan(x)) return std::nullopt;
    bounds = Union(bounds, {x, x});
  }
  return bounds;
}

}  // namespace

std::optional<Interval> BoundsOf(const Tensor& tensor) {
  if (tensor.elements() == 0) return std::nullopt;
  switch (tensor.dtype()) {
    case DType::kBool:
    case DType::kU8:
      return BoundsOfElements<uint8_t>(tensor);
    case DType::kI8:
      return BoundsOfElements<int8_t>(tensor);
    case DType::kI16:
      return BoundsOfElements<int16_t>(tensor.Aligned());
    case DType::kI32:
      return BoundsOfElements<int32_t>(tensor.Aligned());
    case DType::kI64:
      return BoundsOfElements<int64_t>(tensor.Aligned());
    case DType::kF32:
      return BoundsOfElements<float>(tensor.Aligned());
    case DType::kF64:
      return BoundsOfElements<double>(tensor.Aligned());
    default:
      return BoundsOfAny(tensor);
  }
}

}  // namespace nn
