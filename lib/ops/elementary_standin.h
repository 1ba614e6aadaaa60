// STAND-IN, to be replaced: the elementary functions that elementary-inl.h does not have yet. When
// Elementary<M>::Log and ::Pow are there, LogOf and PowOf become
//   scalar::Elementary<ScalarMachine>::Log(x)   scalar::Elementary<ScalarMachine>::Pow(x, y)
// and this file goes.
#pragma once

#include <cmath>

#include "ops/elementary-inl.h"
#include "ops/scalar.h"

namespace nn {

inline float ExpOf(float x) { return scalar::Elementary<ScalarMachine>::Exp(x); }
inline float LogOf(float x) { return static_cast<float>(std::log(static_cast<double>(x))); }
// x^y for x >= 0.
inline float PowOf(float x, float y) {
  return static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y)));
}

}  // namespace nn
