// The first k elements of a row in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nn {

// `length` elements, `step` apart; k <= length < 2^32. NaN comes before all numbers, equal elements
// in the order of their indices.
template <typename T>
struct TopKRow {
  const T* x = nullptr;
  size_t length = 0, step = 1, k = 0;
  bool largest = true;
};

// Writes the indices of the k elements. T is float, double, int8_t, uint8_t, int32_t or int64_t.
template <typename T>
void SelectTopK(const TopKRow<T>& row, uint32_t* indices);

}  // namespace nn
