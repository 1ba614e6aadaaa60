// Moving elements of 1, 2, 4, 8 or 16 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace nn {

// In a table of positions: the fill value.
inline constexpr int64_t kFillPosition = std::numeric_limits<int64_t>::min();

// Neighbouring elements of a row that are neighbours where they come from, or are all filled.
struct MoveRun {
  size_t to = 0, count = 0;
  int64_t from = 0;
};
std::vector<MoveRun> RunsOf(std::span<const int64_t> positions);

// y[i] = x[positions[i]]; `fill` is one element, `element` its size.
void MoveByPositions(std::span<const int64_t> positions, const std::byte* x, std::byte* y,
                     const std::byte* fill, size_t element);
void MoveByRuns(std::span<const MoveRun> runs, const std::byte* x, std::byte* y,
                const std::byte* fill, size_t element);
void FillElements(std::byte* y, size_t n, const std::byte* fill, size_t element);

}  // namespace nn
