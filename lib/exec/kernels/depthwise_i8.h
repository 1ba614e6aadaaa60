// Depthwise convolution of 8-bit integers with TensorFlow Lite's rescaling, channels last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/kernels/byte_result.h"
#include "exec/kernels/rescale_table.h"

namespace nn {

// The filter of all channels in the order in which the kernel meets them, which depends on the SIMD
// target that was chosen when it was packed; it can be used with that target only. Taps come in
// pairs, [pair][slot][2], zero points taken out; an odd last tap is paired with zeros.
struct DepthwiseI8Filter {
  size_t channels = 0, width = 0;  // width: slots
  size_t taps = 0;
  std::vector<int16_t> words;
  std::vector<int32_t> bias;  // a slot; with the input's zero point taken out
  RescaleTable rescale;       // a slot
};

// Element (tap, channel) is w[tap * tap_stride + channel * channel_stride].
struct DepthwiseI8Weights {
  const uint8_t* w = nullptr;
  size_t taps = 0, channels = 0, tap_stride = 0, channel_stride = 0;
  bool is_signed = false;
  int32_t in_zero = 0;
  bool in_signed = false;
  std::vector<int32_t> zero;  // one or channels
  std::vector<int32_t> bias;  // empty or channels
  std::vector<FixedMultiplier> multipliers;
};
DepthwiseI8Filter PackDepthwiseI8(const DepthwiseI8Weights& weights);

// One output position: taps[t] points to the input's channels for tap t; padded taps point to
// channels that hold the input's zero point.
struct DepthwiseI8 {
  const uint8_t* const* taps = nullptr;
  const DepthwiseI8Filter* filter = nullptr;
  uint8_t* out = nullptr;
  ByteResult result;
};

// `count` output positions: position i has its taps at taps + i * filter->taps and its output at
// out + i * out_stride.
void RunDepthwiseI8(const DepthwiseI8& first, size_t count, size_t out_stride);

}  // namespace nn
