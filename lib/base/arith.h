// Scalar forms of the operations used by the arithmetic contract (ARCHITECTURE.md, "Arithmetic
// contract").
#pragma once

#include <cmath>

namespace nn {

// a * b + c with one rounding.
inline float Fma(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline double Fma(double a, double b, double c) {
  return std::fma(a, b, c);
}

}  // namespace nn
