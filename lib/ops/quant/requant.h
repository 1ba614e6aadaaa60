// Integer rescaling as in TensorFlow Lite's reference kernels (double rounding, the gemmlowp
// scheme), which Android NNAPI 1.0 follows for its quantized operations.
//
// Source: tensorflow/lite/kernels/internal/{common,quantization_util}; built without
// TFLITE_SINGLE_ROUNDING, as released.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ir/types/type.h"

namespace nn {

// A whole real number clamped to [low, high]; NaN, which only extreme scales cause, gives 0.
inline int64_t CutToRange(double v, double low, double high) {
  return std::isnan(v) ? 0 : static_cast<int64_t>(std::clamp(v, low, high));
}

// A real factor as multiplier * 2^(shift - 31), multiplier in [2^30, 2^31), or 0.
struct FixedMultiplier {
  int32_t multiplier = 0;
  int shift = 0;
};

// Factors below about 2^-32 and factors that are not finite become 0; factors from 2^31 on become
// the largest one. Neither occurs in a valid model.
FixedMultiplier QuantizeMultiplier(double factor);

// floor(a * b / 2^31 + 1/2): gemmlowp's "saturating rounding doubling high multiply". Saturates the
// only overflow.
inline int32_t RoundingDoublingHighMul(int32_t a, int32_t b) {
  if (a == b && a == std::numeric_limits<int32_t>::min())
    return std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>((static_cast<int64_t>(a) * b + (int64_t{1} << 30)) >> 31);
}

// round(x / 2^exponent), halves away from zero; exponent in [0, 31].
inline int32_t RoundingShiftRight(int32_t x, int exponent) {
  const auto mask = static_cast<int32_t>((int64_t{1} << exponent) - 1);
  const int32_t remainder = x & mask;
  const int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + (remainder > threshold ? 1 : 0);
}

// An accumulator of the reference, which wraps.
inline int32_t WrapTo32(int64_t x) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(x)));
}

inline int32_t Rescale(int32_t x, FixedMultiplier m) {
  const int left = m.shift > 0 ? m.shift : 0;
  const int right = m.shift > 0 ? 0 : -m.shift;
  // The left shift wraps, as in the reference.
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(x) << left);
  return RoundingShiftRight(RoundingDoublingHighMul(shifted, m.multiplier), right);
}

// A factor of Rescale64(): multiplier / 2^shift.
struct ReducedMultiplier {
  int32_t multiplier;  // of 15 bits
  int shift;           // at least 1
};
inline ReducedMultiplier Reduced(FixedMultiplier m) {
  return {m.multiplier < 0x7FFF0000 ? (m.multiplier + (1 << 15)) >> 16 : 0x7FFF,
          15 - std::min(m.shift, 14)};
}

// The form for 64-bit accumulators (16-bit activations), with a reduced multiplier.
inline int32_t Rescale64(int64_t x, FixedMultiplier m) {
  const ReducedMultiplier r = Reduced(m);
  const auto scaled =
      static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(r.multiplier) +
                           (uint64_t{1} << (r.shift - 1)));
  return static_cast<int32_t>(scaled >> r.shift);
}

// zero_point + round(value / scale), halves away from zero, as in the reference for the bounds of
// fused activations. Saturates to int32.
int32_t QuantizeBound(float value, float scale, int64_t zero_point);

// The rescaling factor of a product of `input` and `filter` (channel `c`) to `output`. The
// reference multiplies the two scales in float32 for u8 activations and in double otherwise.
FixedMultiplier ProductMultiplier(DType activation, const Quant& input, const Quant& filter,
                                  size_t c, const Quant& output);

}  // namespace nn
