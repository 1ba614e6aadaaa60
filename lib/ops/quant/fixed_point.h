// Fixed-point functions on int32 as TensorFlow Lite's reference kernels compute them (the gemmlowp
// scheme). Qm.n is a number with m integer and n fraction bits and a sign bit: raw / 2^n. A
// product of two such numbers is RoundingDoublingHighMul of the raw values; its integer bits add
// up.
//
// Source: tflite/kernels/internal/common.h and gemmlowp's fixedpoint.h. Constants are the real
// numbers in the comments, rounded to Q0.31 unless stated otherwise.
#pragma once

#include <cstdint>

namespace nn {

// x * 2^exponent, exponent in [0, 31); saturates.
int32_t SaturatingShiftLeft(int32_t x, int exponent);

// e^x for x <= 0 in Q5.26; Q0.31.
int32_t FixedExp(int32_t x);

// 1 / (1 + x) for x in [0, 1), Q0.31.
int32_t FixedOneOverOnePlus(int32_t x);

// log(x) for x >= 1 in Q12.19; Q5.26.
int32_t FixedLog(int32_t x);

// 1 / x for x > 0 in Q(integer_bits).(31 - integer_bits): a number in [1/2, 1] in Q0.31, which must
// still be divided by 2^bits_over_unit.
struct FixedReciprocalResult {
  int32_t scale;
  int bits_over_unit;
};
FixedReciprocalResult FixedReciprocal(int32_t x, int integer_bits);

// 1 / sqrt(x) for an integer x >= 0 as multiplier * 2^(shift - 31); 0 counts as 1.
struct FixedInvSqrtResult {
  int32_t multiplier;
  int shift;
};
FixedInvSqrtResult FixedInvSqrt(int32_t x);

// The same scheme on int16, whose products keep 16 bits: Qm.n with m + n = 15.
//
// 1 / (1 + e^-x) for x in Q3.12; Q0.15.
int16_t FixedSigmoid16(int16_t x);
// tanh(x) for x in Q(integer_bits).(15 - integer_bits), integer_bits in [0, 6]; Q0.15.
int16_t FixedTanh16(int16_t x, int integer_bits);

}  // namespace nn
