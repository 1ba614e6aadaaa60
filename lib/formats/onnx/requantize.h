// Requantization in operators that ONNX has.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn::onnx {

// TensorFlow Lite's quantize of i16 to i32 -> products of 64-bit integers: QuantizeLinear has no
// result of 32 bits. Keeps every bit. False, and nothing changes, for other nodes and for factors
// from 2^14 on.
Result<bool> ExpandRequantize(Graph& graph, Node& node);

}  // namespace nn::onnx
