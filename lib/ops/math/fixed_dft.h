// Spectra of fixed-point numbers of 16 or 32 bits, as tflite-micro's signal library computes them.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

// fixed_dft(x): the transform of `length` real integers in the last axis of x, which has length or
// fewer elements, with zeros after them, into pairs of a real and an imaginary part for the
// elements 0 to length / 2; with `inverse`, the real integers of such pairs. `length` is even.
//
// The steps are those of kissfft (FIXED_POINT 16 and 32), so that all bits are the same: a complex
// transform of half the length, by stages of 4, 2, 3, 5 and other primes, and a pass over its
// result. Before each stage of p, numbers are divided by p, so that both the transform and its
// inverse are divided by the length. Factors have 15 or 31 bits after the
// point; products are rounded to the nearest number, halves up; sums wrap.
struct FixedDftAttrs {
  int64_t length = 2;
  bool inverse = false;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
