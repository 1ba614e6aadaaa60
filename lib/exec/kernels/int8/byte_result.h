// How the 8-bit kernels convert a rescaled sum to a byte.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nn {

struct ByteResult {
  bool is_signed = false;      // int8, as the operands; otherwise uint8
  int32_t zero = 0;            // the zero point, added first
  int32_t min = 0, max = 255;  // bounds, applied afterwards
};

inline uint8_t ToByte(const ByteResult& result, int64_t sum) {
  return static_cast<uint8_t>(std::clamp<int64_t>(sum + result.zero, result.min, result.max));
}

}  // namespace nn
