#include "ir/types/small_float.h"

#include <array>
#include <cmath>
#include <limits>

namespace nn {
namespace {

struct Encoding {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool is_signed;
  uint8_t nan;         // a NaN pattern, 0 if the type has none
  uint8_t max_finite;  // largest finite magnitude
  uint8_t infinity;    // 0 if the type has none
};

Encoding FormatOf(DType type) {
  switch (type) {
    case DType::kF8E4M3FN:
      return {4, 3, 7, true, 0x7F, 0x7E, 0};
    case DType::kF8E4M3FNUZ:
      return {4, 3, 8, true, 0x80, 0x7F, 0};
    case DType::kF8E5M2:
      return {5, 2, 15, true, 0x7E, 0x7B, 0x7C};
    case DType::kF8E5M2FNUZ:
      return {5, 2, 16, true, 0x80, 0x7F, 0};
    case DType::kF8E8M0:
      return {8, 0, 127, false, 0xFF, 0xFE, 0};
    default:
      return {2, 1, 1, true, 0, 0x7, 0};  // kF4E2M1
  }
}

bool IsNan(DType type, uint8_t bits) {
  switch (type) {
    case DType::kF8E4M3FN:
      return (bits & 0x7F) == 0x7F;
    case DType::kF8E5M2:
      return (bits & 0x7F) > 0x7C;
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2FNUZ:
      return bits == 0x80;
    case DType::kF8E8M0:
      return bits == 0xFF;
    default:
      return false;
  }
}

// The value of a finite magnitude pattern.
float Magnitude(const Encoding& f, uint8_t bits) {
  const int mantissa = bits & ((1 << f.mantissa_bits) - 1);
  const int exponent = bits >> f.mantissa_bits;
  if (!f.is_signed) return std::ldexp(1.0f, exponent - f.bias);
  if (exponent == 0) return std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
  return std::ldexp(static_cast<float>(mantissa + (1 << f.mantissa_bits)),
                    exponent - f.bias - f.mantissa_bits);
}

// Whether a magnitude exceeds the largest finite value after rounding to nearest even.
bool RoundsBeyond(const Encoding& f, float magnitude) {
  const float largest = Magnitude(f, f.max_finite);
  const float limit =
      largest + (largest - Magnitude(f, static_cast<uint8_t>(f.max_finite - 1))) / 2;
  return magnitude > limit || (magnitude == limit && (f.max_finite & 1) != 0);
}

}  // namespace

float SmallFloatToFloat(DType type, uint8_t bits) {
  const Encoding f = FormatOf(type);
  if (IsNan(type, bits)) return std::numeric_limits<float>::quiet_NaN();
  const auto sign_bit =
      static_cast<uint8_t>(f.is_signed ? 1 << (f.exponent_bits + f.mantissa_bits) : 0);
  const auto magnitude_bits = static_cast<uint8_t>(bits & (f.is_signed ? sign_bit - 1 : 0xFF));
  float value = f.infinity != 0 && magnitude_bits == f.infinity
                    ? std::numeric_limits<float>::infinity()
                    : Magnitude(f, magnitude_bits);
  return (bits & sign_bit) != 0 ? -value : value;
}

uint8_t FloatToSmallFloat(DType type, float value, bool saturate) {
  const Encoding f = FormatOf(type);
  if (std::isnan(value)) return f.nan;
  const float magnitude = std::fabs(value);
  if (!saturate && RoundsBeyond(f, magnitude)) {
    if (f.infinity == 0) return f.nan;
    return static_cast<uint8_t>(f.infinity | (value < 0 ? 0x80 : 0));
  }
  // Patterns are ordered by value: search for the nearest; ties go to the even pattern.
  uint8_t low = 0;
  uint8_t high = f.max_finite;
  if (magnitude >= Magnitude(f, high)) {
    low = high;
  } else {
    while (high - low > 1) {
      const auto middle = static_cast<uint8_t>((low + high) / 2);
      (Magnitude(f, middle) <= magnitude ? low : high) = middle;
    }
    const float below = magnitude - Magnitude(f, low);
    const float above = Magnitude(f, high) - magnitude;
    if (above < below || (above == below && (high & 1) == 0)) low = high;
  }
  if (!f.is_signed) return low;
  const auto sign_bit = static_cast<uint8_t>(1 << (f.exponent_bits + f.mantissa_bits));
  // The FNUZ types have no negative zero.
  const bool has_negative_zero = f.nan != sign_bit;
  return std::signbit(value) && (low != 0 || has_negative_zero)
             ? static_cast<uint8_t>(low | sign_bit)
             : low;
}

}  // namespace nn
