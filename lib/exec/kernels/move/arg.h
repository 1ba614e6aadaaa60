// Indices of the largest or smallest elements along an axis of float32; the axis must be shorter
// than 2^31.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn {

// Element i of column c is x[c * column_step + i * step]. NaN comes before all numbers.
struct ArgColumnsF32 {
  const float* x = nullptr;
  size_t length = 1, step = 1;
  size_t count = 0, column_step = 1;
  bool largest = true;
  bool last = false;  // the last of equal elements, otherwise the first
  int32_t* out = nullptr;
};
void RunArgColumnsF32(const ArgColumnsF32& columns);

}  // namespace nn
