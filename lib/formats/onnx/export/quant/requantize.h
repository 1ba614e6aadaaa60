// Integer arithmetic of TensorFlow Lite in operators that ONNX has.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn::onnx {

// TensorFlow Lite's quantize of i16 to i32 -> products of 64-bit integers: QuantizeLinear has no
// result of 32 bits. Keeps every bit. False, and nothing changes, for other nodes and for factors
// from 2^14 on.
Result<bool> ExpandRequantize(Graph& graph, Node& node);

// A reduce_prod with TensorFlow Lite's arithmetic, which rounds after each factor, -> products of
// 64-bit integers. Keeps every bit. False, and nothing changes, for other nodes; kUnsupported
// unless the number of factors is known and at most 64.
Result<bool> ExpandQuantizedProd(Graph& graph, Node& node);

}  // namespace nn::onnx
