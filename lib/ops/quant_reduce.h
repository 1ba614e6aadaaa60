// Reductions of quantised types.
#pragma once

#include "base/status.h"
#include "ir/op_def.h"
#include "ops/reduction.h"
#include "ops/requant.h"

namespace nn {

Status QuantisedSum(EvalContext& ctx, const Rows& rows);
Status QuantisedMean(EvalContext& ctx, const Rows& rows);
Status QuantisedProd(EvalContext& ctx, const Rows& rows);

// What takes a sum of differences from x's zero point to steps of y's scale, divided by n >= 1.
FixedMultiplier ReductionMultiplier(const Quant& x, const Quant& y, int64_t n);

}  // namespace nn
