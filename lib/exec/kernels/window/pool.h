// Pooling windows, channels last: float32 and 8-bit integers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nn {

// The taps of one window that are not padding: a box of counts[0] x counts[1] x counts[2]
// positions.
template <typename T>
struct PoolWindow {
  const T* first = nullptr;         // channels of the first tap
  std::array<int64_t, 3> counts{};  // 0: no taps
  int64_t divisor = 1;              // the divisor of an average
};

// Neighboring outputs.
template <typename T>
struct PoolRow {
  const PoolWindow<T>* windows = nullptr;
  size_t window_count = 0;
  std::array<std::ptrdiff_t, 3> steps{};  // elements between neighboring taps along each axis
  size_t channels = 0;
  T* out = nullptr;
  size_t out_stride = 0;
};

// The largest tap as ops/nn/pool.h defines it; -infinity, or the smallest integer, if there is
// none.
void RunMaxPoolF32(const PoolRow<float>& row);
void RunMaxPool8(const PoolRow<uint8_t>& row, bool is_signed);
// The taps added one by one from +0 in order of position, divided by the divisor.
void RunAveragePoolF32(const PoolRow<float>& row);
// The sum divided by the divisor, rounded to the nearest integer, halves away from zero. At most
// 2^23 taps, at least one.
void RunAveragePool8(const PoolRow<uint8_t>& row, bool is_signed);

}  // namespace nn
