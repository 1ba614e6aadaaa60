// Packs lines of an input with few channels so that each output reads one contiguous run.
#pragma once

#include <cstddef>

#include "exec/runtime/planning/plan.h"
#include "exec/runtime/step.h"
#include "exec/steps/conv/conv_geometry.h"

namespace nn {

// With few channels the taps along a line are joined: adds a step that copies the input of a
// convolution with padding before and after each line, so that the taps of a line are contiguous.
// Then `in` is that copy, `s` describes it, and `run_length`, the number of contiguous elements of
// a tap, grows. Elements have `element` bytes, each set to `fill` in the padding, or to the byte at
// `fill_from`, unless that is null.
void JoinTaps(PlanContext& ctx, const ConvGeometry& g, size_t element, std::byte fill, Spatial3& s,
              MemoryView& in, size_t& run_length, const MemoryView* fill_from = nullptr);

}  // namespace nn
