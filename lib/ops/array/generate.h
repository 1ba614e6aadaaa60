// Operators that generate tensors from a few numbers.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

// range: start, start + delta, start + 2 * delta, ... up to but excluding limit; inputs are scalars
// of one type. There are max(0, ceil((limit - start) / delta)) numbers, computed in double
// precision for floating point. Number i is fma(i, delta, start) there, and exact for integers
// (modulo their width).
//
// one_hot(indices, depth, values): inserts an axis of size `depth`, a scalar or one element, as
// `axis` of y (which may be negative). Along it y holds values[1] at the position given by the
// index and values[0] elsewhere. Indices that are not integers are truncated.
struct OneHotAttrs {
  int64_t axis = -1;
  // Whether indices in [-depth, -1] count from the end. If not, they select nothing, like all
  // indices out of range.
  bool wrap = true;
  static std::span<const AttrField> Fields();
};

// A matrix of the shape of x with ones on diagonal k and zeros elsewhere: y[i, i + k] = 1.
struct EyeLikeAttrs {
  int64_t k = 0;
  DType dtype = DType::kUnknown;  // kUnknown: that of x
  static std::span<const AttrField> Fields();
};

// The matrices in the last two axes of x with zeros below (upper) or above (lower) diagonal k. An
// input, a scalar or one element, can replace the attribute k.
struct TriluAttrs {
  bool upper = true;
  int64_t k = 0;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
