// float16 and bfloat16: by the arithmetic contract their operators are computed in float32 and
// rounded once, so they can use the float32 kernels.
// Design: docs/design/049-16-bit-execution.md.
#pragma once

#include <unordered_set>

#include "ir/graph.h"

namespace nn {

// Replaces the nodes of `computed` that have 16-bit operands by float32 nodes whose results are
// rounded (round_f16, round_bf16), and the permuting nodes between them by float32 ones, so that a
// chain of operators stays in float32 from its first cast to its last. Nodes without a float32
// counterpart stay. Returns whether anything changed.
Result<bool> ComputeHalfInFloat(Graph& graph, const std::unordered_set<const Node*>& computed);

}  // namespace nn
