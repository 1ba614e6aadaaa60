// Permutations of many axes as permutations of fewer.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Replaces a transpose between reshapes with one of lower rank: axes of size 1 are dropped, and
// axes that stay neighbors are joined. If more than five axes are left, axes move one by one, in
// transposes of rank 4 or less. False if the transpose has other neighbors, or no lower rank.
Result<bool> JoinTransposedAxes(Graph& graph, Node& node);

}  // namespace nn
