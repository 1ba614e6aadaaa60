// deform_conv(x, filter, offset, bias, mask): convolution whose taps are moved (ONNX
// DeformConv-22).
//
// x [N, C, spatial...], filter [O, C / groups, kernel...]. Tap k of output position p reads x at
//   (p * stride + k * dilation - pad_begin) + offset       on each axis
// offset [N, offset_groups * taps * axes, output...]: for each tap, in row-major order of the
// kernel, a number for each axis. mask [N, offset_groups * taps, output...] multiplies what is
// read; without it, the factor is 1. Offset group h is that of the channels from h * C /
// offset_groups on.
//
// A position p is read by linear interpolation: d = p - floor(p) on each axis, the elements at
// floor(p) have the weight 1 - d, and the next ones d. The products of the weights of all axes, the
// first axis first, are multiplied by the elements in row-major order and added fused, from +0;
// elements outside x are 0. A position that is NaN is outside.
//
// y is the dot product of the arithmetic contract over the taps and then the input channels of the
// group, plus the bias. Computed in float32, or double for f64.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"

namespace nn {

struct DeformConvAttrs {
  std::vector<int64_t> strides;    // per spatial axis; empty: all 1
  std::vector<int64_t> dilations;  // per spatial axis; empty: all 1
  std::vector<int64_t> pads;       // begins, then ends; empty: none
  int64_t groups = 1;
  int64_t offset_groups = 1;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
