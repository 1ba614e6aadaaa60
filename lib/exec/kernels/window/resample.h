// Interpolation between rows of float32 with given offsets and weights.
//
// Every sum starts at +0 and adds its taps in order with one fused multiply-add each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn {

// out[i * out_stride + k] = sum over t of weights[i * taps + t] * x[offsets[i * taps + t] + k]
// for i < count, k < n.
struct WeightedRowsF32 {
  const float* x = nullptr;
  const int64_t* offsets = nullptr;
  const float* weights = nullptr;
  size_t taps = 0;
  size_t count = 0;
  size_t n = 0;
  float* out = nullptr;
  size_t out_stride = 0;
};
void RunWeightedRowsF32(const WeightedRowsF32& rows);

// out[i] = sum over t of weights[t * n + i] * x[offsets[t * n + i]] for i < n.
struct WeightedElementsF32 {
  const float* x = nullptr;
  const int32_t* offsets = nullptr;
  const float* weights = nullptr;
  size_t taps = 0;
  size_t n = 0;
  float* out = nullptr;
};
void RunWeightedElementsF32(const WeightedElementsF32& line);

}  // namespace nn
