#pragma once

#include "exec/plan.h"

namespace nn {

// A node each of whose results is an element of its first input or a fill value (plan_movement.cc);
// false if there is no kernel for it.
Result<bool> PlanMove(PlanContext& ctx);

}  // namespace nn
