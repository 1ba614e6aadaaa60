// The usual range of quantization scales.
#pragma once

#include <limits>

namespace nn {

// Scales of real models are 1e-6 to 1e2. A denormal scale or one above 10,000 indicates an error.
// False for NaN, 0 and negative numbers.
inline bool IsUsualScale(double scale) {
  return scale >= double{std::numeric_limits<float>::min()} && scale <= 1e4;
}

}  // namespace nn
