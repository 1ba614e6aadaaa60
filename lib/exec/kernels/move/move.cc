#include "exec/kernels/move/move.h"

#include <algorithm>
#include <cstring>

namespace nn {
std::vector<MoveRun> RunsOf(std::span<const int64_t> positions) {
  std::vector<MoveRun> runs;
  for (size_t i = 0; i < positions.size(); ++i) {
    const int64_t from = positions[i];
    if (!runs.empty()) {
      MoveRun& last = runs.back();
      const bool joins =
          from == kFillPosition
              ? last.from == kFillPosition
              : last.from != kFillPosition && last.from + static_cast<int64_t>(last.count) == from;
      if (joins) {
        ++last.count;
        continue;
      }
    }
    runs.push_back({i, 1, from});
  }
  return runs;
}

void MoveByPositions(std::span<const int64_t> positions, const std::byte* x, std::byte* y,
                     const std::byte* fill, size_t element) {
  WithElement(element, [&](auto value) {
    using T = decltype(value);
    std::memcpy(&value, fill, sizeof(T));
    const T* from = reinterpret_cast<const T*>(x);
    T* to = reinterpret_cast<T*>(y);
    for (size_t i = 0; i < positions.size(); ++i)
      to[i] = positions[i] == kFillPosition ? value : from[positions[i]];
  });
}

void MoveByRuns(std::span<const MoveRun> runs, const std::byte* x, std::byte* y,
                const std::byte* fill, size_t element) {
  for (const MoveRun& run : runs) {
    if (run.from == kFillPosition)
      FillElements(y + run.to * element, run.count, fill, element);
    else
      std::memcpy(y + run.to * element, x + run.from * static_cast<int64_t>(element),
                  run.count * element);
  }
}

void FillElements(std::byte* y, size_t n, const std::byte* fill, size_t element) {
  WithElement(element, [&](auto value) {
    std::memcpy(&value, fill, sizeof(value));
    std::fill_n(reinterpret_cast<decltype(value)*>(y), n, value);
  });
}

}  // namespace nn
