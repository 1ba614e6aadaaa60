// Elementwise operators on 8-bit operands.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "exec/plan.h"

namespace nn {

// Narrows bounds of integers to what the group's tail leaves: relu and clip on the quantisation of
// the node's result. False: the tail has others.
bool TakeBounds(const Group& group, int32_t& low, int32_t& high);

// Plans a group whose operator takes one or two 8-bit operands; its tail may hold functions of one.
// False for other groups.
Result<bool> PlanElementwise8Bit(PlanContext& ctx);

}  // namespace nn
