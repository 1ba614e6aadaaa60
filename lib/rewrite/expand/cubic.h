// The weights of cubic interpolation as terms.
#pragma once

#include "ir/term.h"

namespace nn {

// The weight of an element at the distance c from a position, from 0 to 1 if it is near, else from
// 1 to 2; 1 at 0, and 0 at 1 and 2. See ResizeAxis.
inline Term CubicWeight(const Term& c, float a, bool is_near) {
  if (is_near) return (c * (a + 2) - (a + 3)) * c * c + 1;
  return ((c * a + -5 * a) * c + 8 * a) * c + -4 * a;
}

}  // namespace nn
