// Elementwise operators on 8-bit operands.
#pragma once

#include <optional>

#include "base/status.h"
#include "exec/kernels/byte_result.h"
#include "exec/plan.h"

namespace nn {

// How an 8-bit kernel finishes the results of a group: with the quantisation of its node and, as
// bounds, what its tail leaves of them. nullopt where the tail has other operators than relu and
// clip on that quantisation.
std::optional<ByteResult> ByteResultOf(const Group& group);

// Plans a group whose operator takes one or two 8-bit operands; its tail may hold functions of one.
// False for other groups.
Result<bool> PlanElementwise8Bit(PlanContext& ctx);

}  // namespace nn
