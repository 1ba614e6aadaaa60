// Moves permutations across the borders of regions. Part of ChangeAxes (passes/core/passes.h).
#pragma once

#include <cstdint>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/types/axis_map.h"
#include "passes/core/passes.h"

namespace nn {

// The cost of an axis node in addition to the elements that it moves.
inline constexpr int64_t kAxisNodeCost = 8;

// The cost of the nodes that Rearrange() inserts to apply `map` to a value whose own axes were
// changed by `before`. It must not be an underestimate, or steps could appear to improve forever.
int64_t AxesCost(const Value* source, const AxisMap& before, const AxisMap& map);

// ChangeAxes, but regions stay as they are.
Result<bool> ChangeAxesOutside(Graph& graph, const AxesOptions& options);

// Changes the axes of operands and results of loops and branches, and of the inputs and outputs of
// their regions with them, if that reduces the cost: permutations at the border of all regions come
// out, and those around the node go in. A carried value has the same axes before and after each
// iteration. Nodes in regions of loops count once for each iteration. Returns whether the graph
// changed.
Result<bool> ChangeAxesOfRegions(Graph& graph, const AxesOptions& options);

}  // namespace nn
