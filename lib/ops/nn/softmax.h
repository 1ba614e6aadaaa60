// softmax, log_softmax, hardmax: along one axis.
//
// With m the maximum of a row (NaN if any element is), e_i = exp((x_i - m) * beta) and s the sum of
// the e_i over 16 lanes (ops/reduce/reduction.h):
//   softmax      e_i / s
//   log_softmax  (x_i - m) - log(s)   with beta = 1
//   hardmax      1 for the first of the largest elements, 0 for the others
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"
#include "ir/op_def.h"
#include "ops/reduce/reduction.h"

namespace nn {

struct SoftmaxAttrs {
  int64_t axis = -1;
  float beta = 1.0f;
  static std::span<const AttrField> Fields();
};

struct AlongAxisAttrs {
  int64_t axis = -1;
  static std::span<const AttrField> Fields();
};

// TensorFlow Lite's softmax of 8-bit integers. Element k: the exponential, in fixed point, of an
// integer that is k below the largest of its row; integers too small for the table count as 0.
// kUnsupported if scale and beta are too small for the fixed-point format.
Result<std::vector<int32_t>> SoftmaxExponentials8(float scale, float beta);
// One row of `n` integers of u8 or i8, `stride` apart.
void SoftmaxRow8(std::span<const int32_t> exponentials, DType dtype, const std::byte* x,
                 std::byte* y, size_t n, size_t stride);

// Whether a result type has the range 0 to 1 that those kernels compute from integers of type x:
// 0 is the smallest integer and 1 is one step above the largest, except for i16 from i16, whose
// zero point is 0.
bool HasSoftmaxRange(DType x, const Type& y);
// OpDef::fixed_quants. Of log_softmax: scale 1/16, and the largest integer is 0.
std::span<const FixedQuant> SoftmaxQuants();
std::span<const FixedQuant> LogSoftmaxQuants();

// Quantized types, by the node's arithmetic (softmax_quant.cc). Internal to ops/.
Status QuantizedSoftmax(EvalContext& ctx, const Rows& rows);
Status QuantizedLogSoftmax(EvalContext& ctx, const Rows& rows);

}  // namespace nn
