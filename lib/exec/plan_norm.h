// batch_norm by operands that a run computes; plan_elementwise.cc has the one by constants.
#pragma once

#include "exec/plan.h"

namespace nn {

// float32, channels last.
Result<bool> PlanComputedBatchNorm(PlanContext& ctx);

}  // namespace nn
