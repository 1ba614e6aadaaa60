#pragma once

#include "exec/runtime/planning/plan.h"

namespace nn {

// Plans a node whose results are all elements of its first input or a fill value
// (movement.cc); false if no kernel supports it.
Result<bool> PlanMove(PlanContext& ctx);

}  // namespace nn
