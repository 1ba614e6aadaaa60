#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Whether the node is matmul_integer or conv_integer.
bool IsIntegerProduct(const Node& node);

// matmul_integer, conv_integer with scales in the type of the result, which all users convert to
// float32 -> the same without scales, converted, times the scales. False if it does not apply.
Result<bool> UnscaleIntegerProduct(Graph& graph, Node& node);

}  // namespace nn
