// Sizes of axes that operators pad, crop, join or repeat. See size_math.h for
// `Size`.
#pragma once

#include "ops/support/size_math.h"

namespace nn {

// With elements added at both ends; negative amounts crop.
template <typename Size, typename Amount>
Size PaddedSize(const Size& size, const Amount& begin, const Amount& end) {
  return SizePlus(size, SizePlus(begin, end));
}

// Two parts, one after the other.
template <typename Size>
Size JoinedSize(const Size& a, const Size& b) {
  return SizePlus(a, b);
}

// Each element, or the whole axis, `times` times.
template <typename Size, typename Count>
Size RepeatedSize(const Size& size, const Count& times) {
  return SizeTimes(size, times);
}

}  // namespace nn
