// Tensors whose contents follow from a few numbers.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

// range: start, start + delta, start + 2 * delta, ... as far as limit, which is not reached; inputs
// are scalars of one type. There are max(0, ceil((limit - start) / delta)) numbers; for floating
// point this is computed in double precision. Number i is fma(i, delta, start) there, exact for
// integers (modulo their width).
//
// one_hot(indices, depth, values): an axis of size `depth`, a scalar or one element, is inserted so
// that it stands at `axis` of y (which may be negative). Along it y holds values[1] at the position
// that the index gives, values[0] elsewhere. Indices that are not integers are truncated.
struct OneHotAttrs {
  int64_t axis = -1;
  // Whether indices in [-depth, -1] count from the end; if not, they select nothing, as all that
  // are out of range.
  bool wrap = true;
  static std::span<const AttrField> Fields();
};

// A matrix of the shape of x, of zeros with ones on diagonal k: y[i, i + k] = 1.
struct EyeLikeAttrs {
  int64_t k = 0;
  DType dtype = DType::kUnknown;  // kUnknown: that of x
  static std::span<const AttrField> Fields();
};

// The matrices in the last two axes of x with zeros below (upper) or above (lower) diagonal k. In
// place of the attribute k there may be an input, a scalar or one element.
struct TriluAttrs {
  bool upper = true;
  int64_t k = 0;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
