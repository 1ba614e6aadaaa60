// Sums, differences and products of 8-bit integers with TensorFlow Lite's rescaling.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/kernels/int8/byte_result.h"
#include "exec/kernels/int8/rescale_table.h"

namespace nn {

struct BinaryI8 {
  enum class Kind : uint8_t {
    kSum,  // Rescale(Rescale((a - a_zero) 2^shift, fa) + Rescale((b - b_zero) 2^shift, fb), fy)
    kDifference,  // the same with a minus
    kProduct,     // Rescale((a - a_zero) (b - b_zero), fy)
  };
  Kind kind = Kind::kSum;
  int32_t a_zero = 0, b_zero = 0;
  ByteResult result;
  int shift = 0;
  RescaleTable fa, fb, fy;  // SameRescale
};

// Operands of n elements, or of one element that applies to all. y may alias an operand.
struct BinaryI8Row {
  const uint8_t* a = nullptr;
  const uint8_t* b = nullptr;
  bool a_scalar = false, b_scalar = false;
  uint8_t* y = nullptr;
  size_t n = 0;
};

void RunBinaryI8(const BinaryI8& op, const BinaryI8Row& row);

}  // namespace nn
