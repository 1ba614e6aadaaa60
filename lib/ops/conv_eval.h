// Reference evaluation that convolution and transposed convolution share. Internal to ops/.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/op_def.h"
#include "ops/window.h"

namespace nn {

// A kernel position at one output position: what it reads, in elements from the first of a batch
// and group, or that it falls into padding.
struct ConvTap {
  int64_t x;
  int64_t w;
  bool padded;
};

// A convolution as loops: each output element is the dot product of its taps and the input channels
// of its group. Counts of channels are per group; the others are distances in elements.
struct ConvProblem {
  int64_t batch, groups, in_channels, out_channels;
  int64_t x_batch, x_channel;
  int64_t w_group, w_out, w_in;
  int64_t y_batch, y_channel;
  std::vector<int64_t> y_size, y_spatial;  // per spatial axis
  int filter_output_axis;
  // Appends the taps of an output position, in order of kernel position.
  std::function<void(std::span<const int64_t> position, std::vector<ConvTap>& taps)> taps;
};

// The members that tell of x and y; the others are left open.
ConvProblem ConvOperands(Layout layout, const std::vector<int64_t>& x,
                         const std::vector<int64_t>& y);

// Evaluates a node with inputs x, filter and, optionally, bias, of floating-point or quantised
// types.
Status EvalConvolution(EvalContext& ctx, const ConvProblem& p);

}  // namespace nn
