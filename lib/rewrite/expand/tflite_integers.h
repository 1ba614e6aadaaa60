// Integer arithmetic of TensorFlow Lite, for formats that compute with real numbers between
// dequantize and quantize.
#pragma once

#include <span>

#include "base/status.h"
#include "ir/graph.h"
#include "rewrite/target.h"

namespace nn {

// An operator of one operand with TensorFlow Lite's arithmetic -> a gather from the table of its
// integers, where those of the real function differ by more than one step. Such are the 16-bit
// functions that TensorFlow Lite interpolates. False, and nothing changes, for other nodes.
Result<bool> TabulateUnary(Graph& graph, Node& node);

// TensorFlow Lite's softmax of 16-bit integers multiplies the scale by beta -> the integers have
// another scale, and beta is 1. False, and nothing changes, for other nodes; kUnsupported for a
// negative beta, which saturates.
Result<bool> ScaleByBeta(Graph& graph, Node& node);

// Applies to each node the first of the rewrites that changes it. Quantized operators then compute
// with real numbers (UnfuseQdq).
Status PrepareQuantized(Graph& graph, std::span<const Rewrite> rewrites);

}  // namespace nn
