// Elementwise operators on 8-bit operands.
#pragma once

#include <optional>

#include "base/status.h"
#include "exec/kernels/int8/byte_result.h"
#include "exec/runtime/planning/plan.h"

namespace nn {

// How an 8-bit kernel finishes the results of a group: with the quantization of its node and the
// bounds that the post-ops impose. nullopt if the post-ops are not relu or clip with that
// quantization.
std::optional<ByteResult> ByteResultOf(const Group& group);

// Plans a group whose operator has one or two 8-bit operands; its post-ops must be functions of
// one. False for other groups.
Result<bool> PlanElementwise8Bit(PlanContext& ctx);

}  // namespace nn
