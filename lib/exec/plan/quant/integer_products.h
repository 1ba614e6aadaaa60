#pragma once

#include "ir/graph.h"

namespace nn {

// Whether a matmul_integer or conv_integer has a kernel of its own (integer_products.cc): its right
// operand, with its zero points, and its bias are constant, and the left one has at most one zero
// point. Depthwise convolutions have none: they are faster in float32.
bool HasIntegerKernel(const Node& node);

}  // namespace nn
