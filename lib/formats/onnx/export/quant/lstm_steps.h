// The integer arithmetic of quantized lstm layers in operators that ONNX has.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn::onnx {

// A quantized lstm of at most 64 steps -> products of 8-bit integers and expressions of 64-bit
// integers for each step, because ONNX's layer has other roundings. Keeps every bit. False, and
// nothing changes, for other nodes and for weights that are not constant.
Result<bool> ExpandQuantizedLstm(Graph& graph, Node& node);

}  // namespace nn::onnx
