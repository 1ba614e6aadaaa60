// Selection along an axis: arg_max, arg_min, top_k.
//
// In comparisons, NaN is larger than every number for arg_max and top_k {largest}, and smaller for
// arg_min and top_k {largest = false}: it would be the maximum or minimum.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"
#include "ir/types/dtype.h"

namespace nn {

struct ArgAttrs {
  int64_t axis = 0;
  bool keep_dims = true;
  bool select_last_index = false;   // among equal elements
  DType output_type = DType::kI64;  // or i32
  static std::span<const AttrField> Fields();
};

// The k largest or smallest elements along an axis, in order; equal elements in order of their
// index. `sorted` = false leaves the order open; the result is sorted anyway. Input k holds one
// integer.
struct TopKAttrs {
  int64_t axis = -1;
  bool largest = true;
  bool sorted = true;
  DType index_type = DType::kI64;  // or i32
  static std::span<const AttrField> Fields();
};

}  // namespace nn
