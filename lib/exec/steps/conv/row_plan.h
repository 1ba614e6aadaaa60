// The rows of a reduction in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nn {

// The kept axes after the last reduced one are adjacent columns; each index of the other kept axes
// starts a row of them.
struct RowPlan {
  size_t columns = 1;
  std::vector<int64_t> starts;   // of the rows, in elements
  std::vector<int64_t> offsets;  // of the reduced elements, from a row's start, in logical order
  bool contiguous = false;       // one column with adjacent elements

  RowPlan(std::vector<int64_t> dims, std::span<const int> axes);
};

// Converts offsets of elements of a dense tensor, whose innermost axis has `inner` elements, to a
// tensor with rows `stride` elements apart.
std::vector<int64_t> Spread(std::vector<int64_t> offsets, size_t inner, size_t stride);

}  // namespace nn
