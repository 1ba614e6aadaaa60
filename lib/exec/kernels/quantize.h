// Quantization from float32 to 8-bit integers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn {

struct QuantizeParams {
  float scale = 1;
  int32_t zero_point = 0;
  bool is_signed = false;
  bool half_even = true;  // otherwise halves away from zero
};

// y[i] = zero point + x[i] / scale, rounded and clamped to the range of the type; NaN counts as 0.
void RunQuantizeF32(const QuantizeParams& params, const float* x, uint8_t* y, size_t n);

}  // namespace nn
