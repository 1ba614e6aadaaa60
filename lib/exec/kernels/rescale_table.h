// TensorFlow Lite's fixed-point factors (ops/requant.h), one a column, as the kernels read them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/requant.h"

namespace nn {

// A right shift by r that rounds halves away from zero is one by max(r - 1, 0), which cuts, and one
// by min(r, 1) that rounds halves up; so are `cut` and `last`.
//
// Where nothing is shifted left and r >= 1, both roundings are one of 64 bits:
//   Rescale(x) = (x * multiplier + 2^30 + 2^(30 + r) - (x < 0 ? 2^31 : 0)) >> (31 + r)
// because floors of floors are one floor, and because for the negative x whose first rounding gives
// 0 the second gives 0 with and without the correction. `round` is what is added to the product of
// a negative x. Each two neighbours' are apart, as the products of even and odd lanes are.
struct RescaleTable {
  std::vector<int32_t> multiplier, left, cut, last;
  std::vector<int64_t> round_even, round_odd;
  // The form of 64 bits does for all.
  bool plain = true;

  // `size` factors of 0; a number of whole vectors.
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
  constexpr size_t kMostLanes = 16;
  RescaleTable table(kMostLanes);
  for (size_t i = 0; i < kMostLanes; ++i) table.Set(i, m);
  return table;
}

}  // namespace nn
