// The shape and size of a tensor as tensors.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "ir/attrs.h"

namespace nn {

// The dimensions [start, end) of x as a vector of i32 or i64; negative numbers count from the end,
// and bounds outside the rank are clamped.
struct ShapeOfAttrs {
  int64_t start = 0;
  int64_t end = std::numeric_limits<int64_t>::max();
  DType dtype = DType::kI64;
  static std::span<const AttrField> Fields();
};

// The number of elements of x as a scalar of i32 or i64.
struct SizeOfAttrs {
  DType dtype = DType::kI64;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
