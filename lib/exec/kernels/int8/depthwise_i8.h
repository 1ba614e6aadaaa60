// Depthwise convolution of 8-bit integers with TensorFlow Lite's rescaling, channels last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/file/blob.h"
#include "exec/kernels/int8/byte_result.h"
#include "exec/kernels/int8/rescale_table.h"
#include "exec/kernels/product_form.h"

namespace nn {

// Kernel rows are processed in groups of this many: products of several rows are summed at once.
inline constexpr size_t kDepthwiseRows = 4;
// This many channels are read, even if there are fewer.
inline constexpr size_t kDepthwiseChannels = 16;

// The filter of all channels in kernel order, which depends on the SIMD target selected when it was
// packed; it can be used only with that target.
struct DepthwiseI8Filter {
  ProductForm form;
  size_t channels = 0, slots = 0;
  size_t rows = 0;    // of the kernel: all spatial axes but the last, multiplied
  size_t kernel = 0;  // taps of a row
  // [parts][rows / form.taps][kernel][slots][form.taps] of int16 with the zero points taken out or,
  // with four taps, of int8; values beyond that are sums of parts.
  size_t parts = 1;
  Buffer words;
  std::vector<int32_t> bias;  // per slot; includes the correction for the input's zero point
  RescaleTable rescale;       // per slot
};

// Element (row, tap, channel) is w[(row * kernel + tap) * tap_stride + channel * channel_stride].
struct DepthwiseI8Weights {
  const uint8_t* w = nullptr;
  size_t rows = 0, kernel = 0, channels = 0, tap_stride = 0, channel_stride = 0;
  bool is_signed = false;
  int32_t in_zero = 0;
  bool in_signed = false;
  std::vector<int32_t> zero;  // one or channels
  std::vector<int32_t> bias;  // empty or channels
  std::vector<FixedMultiplier> multipliers;
};
DepthwiseI8Filter PackDepthwiseI8(const DepthwiseI8Weights& weights);

// Outputs [first, first + count) of a line.
struct DepthwiseI8 {
  // rows[r]: the line of the input that kernel row r reads; in padding, a line filled with the
  // input's zero point. Rows are rounded up to whole groups; the extra rows may be any lines.
  // kDepthwiseChannels - 1 bytes must be readable after the last position of a line.
  const uint8_t* const* rows = nullptr;
  const uint8_t* padding = nullptr;  // channels that hold the input's zero point
  int64_t input_width = 0;           // positions of an input line
  size_t in_stride = 0;              // bytes between them
  int64_t stride = 1, dilation = 1, pad = 0;
  const DepthwiseI8Filter* filter = nullptr;
  uint8_t* out = nullptr;  // position `first`
  size_t out_stride = 0;
  int64_t first = 0;
  size_t count = 0;
  ByteResult result;
};

void RunDepthwiseI8(const DepthwiseI8& line);

}  // namespace nn
