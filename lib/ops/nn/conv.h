// Convolution: attributes and geometry. One operator covers 1-D to 3-D, groups and depthwise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"
#include "ops/support/window.h"

namespace nn {

// Axis order of a filter: O output channels, I input channels of one group, X the spatial axes. In
// a transposed convolution I is all input channels and O the output channels of one group.
enum class FilterLayout : uint8_t {
  kOix,  // ONNX, Core ML
  kOxi,  // TensorFlow Lite and NNAPI convolution, TensorFlow Lite transposed convolution
  kIxo,  // TensorFlow Lite and NNAPI depthwise convolution (I = 1)
  kXio,  // TensorFlow
  kIox,  // transposed convolution of ONNX and Core ML
};
template <>
struct EnumNames<FilterLayout> {
  static constexpr std::string_view kNames[] = {"oix", "oxi", "ixo", "xio", "iox"};
};

// y[n, o, p] = sum over kernel positions k, then input channels c of the group of o:
//              x[n, c, p * stride + k * dilation - pad_begin] * w[o, c, k]   (+ bias[o])
// Group g maps input channels [g * I, (g + 1) * I) to output channels [g * O / groups, ...).
//
// conv_integer convolves u8 and i8 integers, whatever they represent, to i32: x less its zero
// point, one number, with w less its zero point, one number or one for each output channel. Padding
// counts as the zero point of x. Sums wrap.
struct ConvAttrs {
  Layout layout = Layout::kNcx;
  FilterLayout filter_layout = FilterLayout::kOix;
  std::vector<int64_t> strides;    // per spatial axis; empty: all 1
  std::vector<int64_t> dilations;  // per spatial axis; empty: all 1
  std::vector<int64_t> pads;       // begins, then ends; empty: none
  Padding padding = Padding::kExplicit;
  int64_t groups = 1;

  static std::span<const AttrField> Fields();
};

// The axes of a filter of the given rank.
struct FilterAxes {
  int output;
  int input;
  int spatial;  // first of rank - 2
};
FilterAxes AxesOf(FilterLayout layout, int rank);

// The permutation from one filter layout to another.
AxisMap FilterMap(FilterLayout from, FilterLayout to, int rank);

// The layout of a filter after a permutation; nullopt if it is not one of the layouts.
std::optional<FilterLayout> FollowFilter(FilterLayout from, int rank, const AxisMap& map);

// A convolution whose shapes are known.
struct ConvGeometry {
  int64_t batch, groups;
  int64_t in_channels, out_channels;  // per group
  std::vector<ConstWindow> windows;   // per spatial axis

  int64_t taps() const;           // kernel positions
  int64_t out_positions() const;  // spatial outputs
};
Result<ConvGeometry> GeometryOf(const ConvAttrs& attrs, const std::vector<int64_t>& input,
                                const std::vector<int64_t>& filter);

// The windows of a convolution node; sizes may be symbolic. kUnsupported for a dynamic kernel size,
// otherwise the errors of ResolveWindows.
Result<std::vector<Window>> ConvWindows(const ConvAttrs& attrs, const Dims& input,
                                        const Dims& filter);

}  // namespace nn
