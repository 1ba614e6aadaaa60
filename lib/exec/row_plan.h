// The rows of a reduction as they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nn {

// The kept axes behind the last reduced one are columns, which lie side by side; each index of the
// other kept axes starts a row of them.
struct RowPlan {
  size_t columns = 1;
  std::vector<int64_t> starts;   // of the rows, in elements
  std::vector<int64_t> offsets;  // of the reduced elements, from a row's start, in logical order
  bool contiguous = false;       // one column, whose elements are neighbours

  RowPlan(std::vector<int64_t> dims, std::span<const int> axes);
};

// Offsets of elements of a dense tensor, whose innermost axis has `inner` elements, where its rows
// are `stride` elements apart.
std::vector<int64_t> Spread(std::vector<int64_t> offsets, size_t inner, size_t stride);

}  // namespace nn
