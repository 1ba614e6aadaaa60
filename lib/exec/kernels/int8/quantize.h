// Quantization from float32 to 8-bit integers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/quant/fake_quantize.h"

namespace nn {

struct QuantizeParams {
  float scale = 1;
  int32_t zero_point = 0;
  bool is_signed = false;
  bool half_even = true;  // otherwise halves away from zero
};

// y[i] = zero point + x[i] / scale, rounded and clamped to the range of the type; NaN counts as 0.
void RunQuantizeF32(const QuantizeParams& params, const float* x, uint8_t* y, size_t n);

// The smallest and largest of the numbers that it has seen and 0; NaN once one was NaN.
struct RangeF32 {
  float low = 0;
  float high = 0;

  void Join(const RangeF32& other);
};

RangeF32 RangeOfF32(const float* x, size_t n);

// y[i] = x[i] / scale, rounded to even, plus the zero point, clamped to [0, 255]; NaN gives 0.
void RunDynamicQuantizeF32(float scale, float zero_point, const float* x, uint8_t* y, size_t n);

// y[i] = x[i] as the grid represents it (Rounded(), ops/quant/fake_quantize.h).
void RunFakeQuantizeF32(const RowGrid& grid, const float* x, float* y, size_t n);

}  // namespace nn
