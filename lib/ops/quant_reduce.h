// Reductions of quantised types. Internal to ops/.
#pragma once

#include "base/status.h"
#include "ir/op_def.h"
#include "ops/reduction.h"

namespace nn {

Status QuantisedSum(EvalContext& ctx, const Rows& rows);
Status QuantisedMean(EvalContext& ctx, const Rows& rows);
Status QuantisedProd(EvalContext& ctx, const Rows& rows);

}  // namespace nn
