// Elementwise operators on 8-bit operands.
#pragma once

#include "base/status.h"
#include "exec/plan.h"

namespace nn {

// Plans a group whose operator takes one or two 8-bit operands; its tail may hold functions of one.
// False for other groups.
Result<bool> PlanElementwise8Bit(PlanContext& ctx);

}  // namespace nn
