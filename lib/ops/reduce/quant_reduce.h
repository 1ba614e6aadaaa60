// Reductions of quantized types.
#pragma once

#include "base/status.h"
#include "ir/op_def.h"
#include "ops/quant/requant.h"
#include "ops/reduce/reduction.h"

namespace nn {

Status QuantizedSum(EvalContext& ctx, const Rows& rows);
Status QuantizedMean(EvalContext& ctx, const Rows& rows);
Status QuantizedProd(EvalContext& ctx, const Rows& rows);

// The multiplier that rescales a sum of differences from x's zero point to y's scale and divides it
// by n >= 1.
FixedMultiplier ReductionMultiplier(const Quant& x, const Quant& y, int64_t n);
// The multiplier that rescales each partial product of n differences from x's zero point, and the
// last one once more (Rescale64). Requires that the scales are positive.
FixedMultiplier FactorMultiplier(const Quant& x, const Quant& y, int64_t n);

}  // namespace nn
