// The number of windows along one axis, and the size that a transposed convolution gives it. See
// size_math.h for `Size`; other operands are numbers, or Dims if `Size` is Dim.
#pragma once

#include "ops/support/size_math.h"

namespace nn {

// Windows of `extent` elements (dilation included) on `input` elements with `padding` in all.
// Without elements for a single window, the result is below 1.
template <typename Size, typename Padding, typename Extent, typename Stride>
Size WindowCount(const Size& input, const Padding& padding, const Extent& extent,
                 const Stride& stride) {
  return SizePlus(SizeFloorDiv(SizePlus(input, padding - extent), stride), 1);
}

// The same, with a last window that is not complete.
template <typename Size, typename Padding, typename Extent, typename Stride>
Size WindowCountUp(const Size& input, const Padding& padding, const Extent& extent,
                   const Stride& stride) {
  return SizePlus(SizeCeilDiv(SizePlus(input, padding - extent), stride), 1);
}

// Windows that SAME padding gives: one for each `stride` elements begun.
template <typename Size, typename Stride>
Size SameWindowCount(const Size& input, const Stride& stride) {
  return SizePlus(SizeFloorDiv(SizePlus(input, -1), stride), 1);
}

// The elements that the windows of a transposed convolution cover; its padding crops them.
template <typename Size, typename Extent, typename Stride>
Size TransposedExtent(const Size& input, const Extent& extent, const Stride& stride) {
  return SizePlus(SizeTimes(SizePlus(input, -1), stride), extent);
}

// The same with SAME padding.
template <typename Size, typename Stride>
Size SameTransposedExtent(const Size& input, const Stride& stride) {
  return SizeTimes(input, stride);
}

}  // namespace nn
