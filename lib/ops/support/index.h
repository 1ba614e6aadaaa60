// Iterating over multi-dimensional indices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nn {

// Advances a multi-index through a box in row-major order; returns false after the last one. All
// sizes must be positive.
inline bool NextIndex(std::vector<int64_t>& index, std::span<const int64_t> size) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < size[i]) return true;
    index[i] = 0;
  }
  return false;
}

// Calls fn(number, offset) for every position of a box in row-major order; the offset is the sum of
// index times step over the axes.
template <typename Fn>
void ForEachOffset(std::span<const int64_t> size, std::span<const int64_t> steps, Fn fn) {
  for (const int64_t s : size)
    if (s == 0) return;
  std::vector<int64_t> index(size.size(), 0);
  int64_t offset = 0;
  for (int64_t number = 0;; ++number) {
    fn(number, offset);
    size_t axis = size.size();
    for (;; offset -= steps[axis] * size[axis], index[axis] = 0) {
      if (axis-- == 0) return;
      offset += steps[axis];
      if (++index[axis] < size[axis]) break;
    }
  }
}

}  // namespace nn
