// Functions of quantized operands as tables.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn::onnx {

// An operator of one operand with TensorFlow Lite's arithmetic -> a gather from the table of its
// integers, where those of the real function differ by more than one step. Such are the 16-bit
// functions that TensorFlow Lite interpolates. False, and nothing changes, for other nodes.
Result<bool> TabulateUnary(Graph& graph, Node& node);

}  // namespace nn::onnx
