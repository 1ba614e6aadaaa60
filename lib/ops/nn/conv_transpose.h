// Transposed convolution ("deconvolution"): attributes and geometry.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"
#include "ops/nn/conv.h"
#include "ops/support/window.h"

namespace nn {

// y[n, o, p] = sum over kernel positions k, then input channels c of the group of o:
//              x[n, c, q] * w[c, o, k] where q * stride + k * dilation - pad_begin == p   (+
//              bias[o])
// Kernel positions without such a q are skipped. Group g maps input channels
// [g * I / groups, ...) to output channels [g * O, (g + 1) * O), see FilterLayout.
//
// Size of an output axis: (input - 1) * stride + (kernel - 1) * dilation + 1 + output_padding -
// pads. output_shape overrides this size; the leading pads then are
//   explicit, valid  those of `pads`
//   same_upper       half of the total padding that gives the size, rounded down
//   same_lower       half of it, rounded up
// Without output_shape, same_upper and same_lower give the size input * stride.
struct ConvTransposeAttrs {
  Layout layout = Layout::kNcx;
  FilterLayout filter_layout = FilterLayout::kIox;
  std::vector<int64_t> strides;    // per spatial axis; empty: all 1
  std::vector<int64_t> dilations;  // per spatial axis; empty: all 1
  std::vector<int64_t> pads;       // begins, then ends; empty: none
  Padding padding = Padding::kExplicit;
  std::vector<int64_t> output_padding;  // per spatial axis; empty: none
  Dims output_shape;                    // per spatial axis; empty: from the rest
  int64_t groups = 1;

  static std::span<const AttrField> Fields();
};

// Per spatial axis; pad_end is the number of elements cropped at the end, negative where zeros are
// added.
Result<std::vector<Window>> ConvTransposeWindows(const ConvTransposeAttrs& attrs, const Dims& input,
                                                 const Dims& filter);

// A transposed convolution whose shapes are known; channel counts are per group.
Result<ConvGeometry> GeometryOf(const ConvTransposeAttrs& attrs, const std::vector<int64_t>& input,
                                const std::vector<int64_t>& filter);

}  // namespace nn
