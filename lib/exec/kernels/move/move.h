// Moving elements of 1, 2, 4, 8 or 16 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace nn {

// Calls fn with a value of the unsigned type of the size.
template <typename Fn>
void WithElement(size_t element, const Fn& fn) {
  switch (element) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    case 8:
      return fn(uint64_t{});
    default:
      return fn(std::array<uint64_t, 2>{});
  }
}

// Copies n elements of the given size; single ones use a copy of known size.
template <size_t kElement>
void CopyElements(std::byte* y, const std::byte* x, size_t n) {
  if (n == 1)
    std::memcpy(y, x, kElement);
  else
    std::memcpy(y, x, n * kElement);
}

// Denotes the fill value in a table of positions.
inline constexpr int64_t kFillPosition = std::numeric_limits<int64_t>::min();

// Adjacent elements of a row that are also adjacent in the source, or are all filled.
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
