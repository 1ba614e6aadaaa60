// Scalar forms of the operations of the arithmetic contract (docs/spec/arithmetic.md).
#pragma once

#include <cmath>
#ifdef __EMSCRIPTEN__
#include <bit>
#include <cstdint>
#endif

namespace nn {

// a * b + c with one rounding.
#ifdef __EMSCRIPTEN__
// Its fmaf needs rounding modes, which WebAssembly lacks, and rounds twice in rare cases. In double
// precision the product is exact; the sum is rounded to odd (see exec/kernels/simd-inl.h).
inline float Fma(float a, float b, float c) {
  const double p = double{a} * double{b};
  const double s = p + double{c};
  const double t = s - p;
  const double error = (p - (s - t)) + (double{c} - t);
  auto bits = std::bit_cast<uint64_t>(s);
  if (std::fabs(error) > 0) bits = (bits - ((bits ^ std::bit_cast<uint64_t>(error)) >> 63)) | 1;
  return static_cast<float>(std::bit_cast<double>(bits));
}
#else
inline float Fma(float a, float b, float c) {
  return std::fma(a, b, c);
}
#endif
inline double Fma(double a, double b, double c) {
  return std::fma(a, b, c);
}

// NN_HIDE_CONSTANT(v): the compiler no longer knows that the number v, or the vector, is constant.
// With a constant, clang takes "0 > x ? 0 : x" for an instruction of AArch64 whose result for -0 is
// 0 (seen in version 14). The memory operand suits vectors that are arrays.
#if defined(__clang__) && defined(__aarch64__)
#define NN_HIDE_CONSTANT(v) asm("" : "+w"(v))
#define NN_HIDE_CONSTANT_ARRAY(v) asm("" : "+m"(v))
#else
#define NN_HIDE_CONSTANT(v) static_cast<void>(v)
#define NN_HIDE_CONSTANT_ARRAY(v) static_cast<void>(v)
#endif

}  // namespace nn
