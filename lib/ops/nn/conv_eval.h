// Reference evaluation and layouts shared by convolution and transposed convolution. Internal to
// ops/.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/op_def.h"
#include "ops/nn/conv.h"
#include "ops/support/window.h"

namespace nn {

// A kernel position at one output position: the offset that it reads, in elements from the first of
// a batch and group, or that it falls into padding.
struct ConvTap {
  int64_t x;
  int64_t w;
  bool padded;
};

// A convolution as loops: each output element is the dot product of its taps and the input channels
// of its group. Channel counts are per group; the other members are distances in elements.
struct ConvProblem {
  int64_t batch, groups, in_channels, out_channels;
  int64_t x_batch, x_channel;
  int64_t w_group, w_out, w_in;
  int64_t y_batch, y_channel;
  std::vector<int64_t> y_size, kernel, x_spatial, w_spatial, y_spatial;  // per spatial axis
  // Appends the taps of an output position, in order of kernel position.
  std::function<void(std::span<const int64_t> position, std::vector<ConvTap>& taps)> taps;
};

// All members except w_group and taps, for operands of these shapes.
ConvProblem ConvOperands(Layout layout, FilterLayout filter_layout, const ConvGeometry& g,
                         const std::vector<int64_t>& x, const std::vector<int64_t>& w,
                         const std::vector<int64_t>& y);

// kUnsupported if the scales of a quantized filter are those of another axis than the output
// channels.
Status CheckFilterQuant(const Type& filter, const FilterAxes& axes);

// Evaluates a node with inputs x, filter and, optionally, bias, with floating-point or quantized
// types.
Status EvalConvolution(EvalContext& ctx, const ConvProblem& p);
// The same for conv_integer.
Status EvalIntegerConvolution(EvalContext& ctx, const ConvProblem& p);

// OpDef::change_axes for attributes with a layout and a filter_layout: x and the output change
// their layout together; the filter's layout follows any permutation that yields another layout.
template <typename Attrs>
std::optional<AxesChange> ChangeConvolutionAxes(const Node& node, Operand changed,
                                                const AxisMap& map) {
  Attrs a = node.attrs<Attrs>();
  const int rank = node.input(0)->type().rank();
  if (!changed.is_output && changed.index == 2) return std::nullopt;
  if (!changed.is_output && changed.index == 1) {
    const auto to = FollowFilter(a.filter_layout, rank, map);
    if (!to) return std::nullopt;
    a.filter_layout = *to;
    return AxesChange{a, {}};
  }
  const auto layout = FlipLayout(a.layout, rank, map);
  if (!layout) return std::nullopt;
  a.layout = *layout;
  return AxesChange{a, {{Operand{!changed.is_output, 0}, map}}};
}

}  // namespace nn
