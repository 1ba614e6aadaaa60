// What scales of quantised tensors are like.
#pragma once

#include <limits>

namespace nn {

// Those of real models are 1e-6 to 1e2; beyond normal floats and 10,000 something went wrong. False
// for NaN, 0 and negative numbers.
inline bool IsUsualScale(double scale) {
  return scale >= double{std::numeric_limits<float>::min()} && scale <= 1e4;
}

}  // namespace nn
