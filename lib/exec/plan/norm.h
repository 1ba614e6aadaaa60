// batch_norm with operands computed at run time; elementwise.cc handles constant operands.
#pragma once

#include "exec/runtime/planning/plan.h"

namespace nn {

// float32, channels last.
Result<bool> PlanComputedBatchNorm(PlanContext& ctx);

}  // namespace nn
