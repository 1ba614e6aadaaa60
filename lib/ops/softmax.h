// softmax, log_softmax, hardmax: along one axis.
//
// With m the maximum of a row (NaN if any element is), e_i = exp((x_i - m) * beta) and s the sum of
// the e_i over 16 lanes (ops/reduction.h):
//   softmax      e_i / s
//   log_softmax  (x_i - m) - log(s)   with beta = 1
//   hardmax      1 for the first of the largest elements, 0 for the others
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"
#include "ir/op_def.h"
#include "ops/reduction.h"

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

// Quantised types, by the node's arithmetic (softmax_quant.cc). Internal to ops/.
Status QuantisedSoftmax(EvalContext& ctx, const Rows& rows);
Status QuantisedLogSoftmax(EvalContext& ctx, const Rows& rows);

}  // namespace nn
