// The expansion of affine_grid.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// affine_grid of known sizes and f32 or f64 -> the rows of theta by the constant coordinates of the
// positions, with the same sums.
Result<bool> ExpandAffineGrid(Graph& graph, Node& node);

}  // namespace nn
