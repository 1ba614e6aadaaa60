// col2im(x, image, block): the sums of overlapping blocks of images (ONNX Col2Im-18).
//
// x [N, C * taps, L] holds blocks as columns, image [axes] the sizes of the images, and block
// [axes] those of the blocks, which have `taps` elements. y is [N, C, image...]. Blocks lie as the
// windows of a convolution with this kernel over the images; there are L of them, in row-major
// order:
//   y[n, c, p * stride + k * dilation - pad_begin] += x[n, c * taps + k, p]
// for the elements in the image. Sums are in ascending order of k, from +0. 16-bit floats are added
// in float32 and rounded once; integers wrap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"

namespace nn {

struct Col2ImAttrs {
  std::vector<int64_t> strides;    // per axis of the images; empty: all 1
  std::vector<int64_t> dilations;  // per axis of the images; empty: all 1
  std::vector<int64_t> pads;       // begins, then ends; empty: none
  static std::span<const AttrField> Fields();
};

}  // namespace nn
