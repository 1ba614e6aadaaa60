// float16 and bfloat16: their operators are computed in float32 and rounded once, by the arithmetic
// contract. So the kernels for float32 serve them, too.
#pragma once

#include <unordered_set>

#include "ir/graph.h"

namespace nn {

// Replaces the nodes of `computed` that have operands of 16 bits by nodes of float32 whose results
// are rounded (round_f16, round_bf16), and the rearranging nodes between them by such of float32,
// so that a chain of operators stays in float32 from its first cast to its last. Nodes that have no
// counterpart in float32 stay. Whether anything changed.
Result<bool> ComputeHalfInFloat(Graph& graph, const std::unordered_set<const Node*>& computed);

}  // namespace nn
