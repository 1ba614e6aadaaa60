// Depthwise convolution of float32, channels last: each channel has its own filter. Also grouped
// convolution with as many outputs as inputs and groups small enough that several share a vector.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/kernels/matrix_f32.h"

namespace nn {

// Lines of outputs: positions [first, first + count) along the last spatial axis of each.
struct DepthwiseF32 {
  // Lines of the input that the kernel's rows read, null for padding: row r of output line l reads
  // rows[l * line_step + r].
  const float* const* rows = nullptr;
  size_t row_count = 0;  // kernel rows: all spatial kernel axes but the last, multiplied
  size_t lines = 1;
  size_t line_step = 0;
  int64_t input_width = 0;  // positions of an input line
  size_t in_stride = 0;     // elements between input positions
  int64_t kernel = 0;       // taps along a line
  int64_t stride = 1;
  int64_t dilation = 1;  // may be negative: taps from right to left
  int64_t pad = 0;
  // Channels of a group: 1; or 4 or 8 with a kernel of 3, a stride of 1 or 2, no dilation and whole
  // panels of channels.
  size_t group = 1;
  const float* filter = nullptr;  // [row_count * kernel][inputs of a group][filter_stride]
  size_t filter_stride = 0;       // channels, rounded up to kPanelWidth, zero beyond
  size_t channels = 0;
  float* out = nullptr;  // position `first` of line 0
  size_t out_stride = 0;
  size_t line_pitch = 0;  // output positions between lines
  int64_t first = 0, count = 0;
  // The residual is relative to `out`, too.
  EpilogueF32 epilogue;
};

void RunDepthwiseF32(const DepthwiseF32& lines);

}  // namespace nn
