// Sliding windows over spatial axes, shared by convolution and pooling.
// Design: docs/design/006-layout-attributes.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"
#include "ir/types/axis_map.h"
#include "ir/types/dim.h"

namespace nn {

// The position of the channel axis of a spatial tensor; N is always first.
enum class Layout : uint8_t {
  kNcx,  // [N, C, spatial...]: ONNX, Core ML
  kNxc,  // [N, spatial..., C]: TensorFlow Lite, NNAPI
};
template <>
struct EnumNames<Layout> {
  static constexpr std::string_view kNames[] = {"ncx", "nxc"};
};

enum class Padding : uint8_t {
  kExplicit,   // by the pads attribute
  kValid,      // none
  kSameUpper,  // output size = ceil(input / stride); the odd element of padding goes to the end
  kSameLower,  // the same, odd element at the beginning
};
template <>
struct EnumNames<Padding> {
  static constexpr std::string_view kNames[] = {"explicit", "valid", "same_upper", "same_lower"};
};

inline int ChannelAxis(Layout layout, int rank) {
  return layout == Layout::kNcx ? 1 : rank - 1;
}
inline int FirstSpatialAxis(Layout layout) {
  return layout == Layout::kNcx ? 2 : 1;
}

// One spatial axis of a window operation.
struct Window {
  Dim input;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  Dim pad_begin;
  Dim pad_end;
  Dim output;

  // Elements from the first to the last tap.
  int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

// The attributes that describe windows, collected from an operator's attribute struct. Empty lists
// mean stride 1, dilation 1, no padding. `pads` holds all begins, then all ends.
struct WindowSpec {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;
  Padding padding = Padding::kExplicit;
  // Round the output size up; a last window that would start beyond the input and the leading
  // padding is dropped (the rule of ONNX and PyTorch).
  bool ceil_mode = false;
};

// Resolves padding and output size of each axis. kModel if lengths do not match, a stride or
// dilation is below 1, a pad is below 0, or a window does not fit the padded input.
Result<std::vector<Window>> ResolveWindows(const WindowSpec& spec, const Dims& spatial_input);

// A Window with all sizes known, for evaluation.
struct ConstWindow {
  int64_t input, kernel, stride, dilation, pad_begin, pad_end, output;
};
Result<std::vector<ConstWindow>> ConstWindows(const std::vector<Window>& windows);

// The attributes of an operator with `added` more spatial axes of size 1 before the others
// (OpDef::takes_unit_axes): windows do not reach along them, and resizing keeps them.
Result<Attrs> WithUnitAxes(const Attrs& attrs, size_t added);

// The spatial part of a shape.
Dims SpatialDims(const Dims& dims, Layout layout);

// change_axes for operators with a layout attribute: the channels-first to channels-last map (or
// its inverse) on `rank` axes flips the layout. Returns the new layout; nullopt for any other map.
std::optional<Layout> FlipLayout(Layout layout, int rank, const AxisMap& map);

}  // namespace nn
