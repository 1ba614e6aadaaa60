// Whether two resizes are the same but for the rounding of positions.
#pragma once

#include "ir/graph.h"
#include "ops/nn/resize/resize.h"

namespace nn {

// Whether the node computes each element with the weights that it has with the attributes `other`,
// which are by sizes, and the default arithmetic, but for the rounding of positions. False if the
// sizes are not known, or too large to compare.
bool ResizesAs(const Node& node, const ResizeAttrs& other);

}  // namespace nn
