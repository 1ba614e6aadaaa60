// Lines of an input with few channels as one run of elements for each output.
#pragma once

#include <cstddef>

#include "exec/conv_geometry.h"
#include "exec/plan.h"
#include "exec/step.h"

namespace nn {

// With few channels the taps along a line are joined: a step is added that copies the input of a
// convolution with padding before and behind each line, so that a line's taps lie together. Then
// `in` is that copy, `s` describes it, and `run_length`, the elements of a tap that lie together,
// has grown. Elements are of `element` bytes, each `fill` in the padding.
void JoinTaps(PlanContext& ctx, const ConvGeometry& g, size_t element, std::byte fill, Spatial3& s,
              Place& in, size_t& run_length);

}  // namespace nn
