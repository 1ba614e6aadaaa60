// TensorFlow Lite's fixed-point factors (ops/quant/requant.h), one per column, in the layout of the
// kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/quant/requant.h"

namespace nn {

// A right shift by r that rounds halves away from zero equals a truncating shift by max(r - 1, 0),
// followed by a shift by min(r, 1) that rounds halves up: `cut` and `last`.
//
// If nothing is shifted left and r >= 1, both roundings are a single 64-bit one:
//   Rescale(x) = (x * multiplier + 2^30 + 2^(30 + r) - (x < 0 ? 2^31 : 0)) >> (31 + r)
// because nested floors are a single floor, and because for a negative x whose first rounding gives
// 0 the second one gives 0 with and without the correction. `round` is added to the product of a
// negative x, with even and odd entries separate, as the products of even and odd lanes are.
struct RescaleTable {
  std::vector<int32_t> multiplier, left, cut, last;
  std::vector<int64_t> round_even, round_odd;
  // The 64-bit form applies to all columns.
  bool plain = true;

  // `size` factors of 0; `size` must be a multiple of the vector length.
  explicit RescaleTable(size_t size = 0)
      : multiplier(size),
        left(size),
        cut(size),
        last(size),
        round_even(size / 2),
        round_odd(size / 2) {
    for (size_t i = 0; i < size; ++i) Set(i, {});
  }

  void Set(size_t i, FixedMultiplier m) {
    const int right = m.multiplier == 0 ? 1 : std::max(-m.shift, 0);
    multiplier[i] = m.multiplier;
    left[i] = std::max(m.shift, 0);
    cut[i] = std::max(right - 1, 0);
    last[i] = std::min(right, 1);
    if (i / 2 < round_even.size())
      (i % 2 == 0 ? round_even : round_odd)[i / 2] =
          (int64_t{1} << (30 + right)) - (int64_t{1} << 30);
    plain = plain && right > 0;
  }
};

// One factor for every lane of a vector.
inline RescaleTable SameRescale(FixedMultiplier m) {
  constexpr size_t kMaxLanes = 16;
  RescaleTable table(kMaxLanes);
  for (size_t i = 0; i < kMaxLanes; ++i) table.Set(i, m);
  return table;
}

}  // namespace nn
