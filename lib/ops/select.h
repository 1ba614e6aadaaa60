// Choosing and counting elements by their values.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

// non_zero: the positions of the elements that are not zero (or false), in row-major order, as an
// i64 matrix with a row for each axis of x and a column for each element.
//
// compress: the slices of x along `axis` (or, with `flatten`, the elements of x in row-major order)
// whose entry in the boolean vector `condition` is true. The condition may be shorter than the
// axis; what lies beyond it is left out.
struct CompressAttrs {
  bool flatten = true;
  int64_t axis = 0;
  static std::span<const AttrField> Fields();
};

// The different slices of x along `axis` (or, with `flatten`, the different elements of x), each
// once, in ascending order or, if not `sorted`, in order of their first occurrence. Further
// outputs: where each occurs first in x; for each slice of x which of the results it is; how often
// each occurs. Slices compare lexicographically; NaN counts as equal to itself and larger than any
// number.
struct UniqueAttrs {
  bool flatten = true;
  int64_t axis = 0;
  bool sorted = true;
  DType index_type = DType::kI64;
  static std::span<const AttrField> Fields();
};

// For each index b on batch_axis: the first lengths[b] elements along time_axis in opposite order,
// the rest as they are.
struct ReverseSequenceAttrs {
  int64_t batch_axis = 1;
  int64_t time_axis = 0;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
