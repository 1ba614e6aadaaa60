// Selecting and counting elements by their values.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

// non_zero: the indices of the elements that are not zero, false or "", in row-major order, as an
// i64 matrix with one row per axis of x and one column per element.
//
// compress: the slices of x along `axis` (or, with `flatten`, the elements of x in row-major order)
// whose entry in the boolean vector `condition` is true. The condition may be shorter than the
// axis; elements beyond it are dropped.
struct CompressAttrs {
  bool flatten = true;
  int64_t axis = 0;
  static std::span<const AttrField> Fields();
};

// The distinct slices of x along `axis` (or, with `flatten`, the distinct elements of x), in
// ascending order or, if not `sorted`, in order of their first occurrence. Further outputs: the
// index in x of each first occurrence; for each slice of x the index of its result; the number of
// occurrences of each. Slices compare lexicographically; NaN is equal to itself and larger than any
// number.
struct UniqueAttrs {
  bool flatten = true;
  int64_t axis = 0;
  bool sorted = true;
  DType index_type = DType::kI64;
  static std::span<const AttrField> Fields();
};

// For each index b on batch_axis: reverses the first lengths[b] elements along time_axis and keeps
// the rest.
struct ReverseSequenceAttrs {
  int64_t batch_axis = 1;
  int64_t time_axis = 0;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
