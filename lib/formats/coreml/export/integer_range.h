// Integer arithmetic in Core ML, which computes with float32.
// Design: docs/design/037-coreml-integers.md.
#pragma once

#include <string>

#include "ir/graph.h"
#include "ir/types/dtype.h"

namespace nn::coreml {

// Limit of Core ML: magnitude of the integers with which an exported model computes. Integers up to
// this magnitude are exact in float32.
inline constexpr int64_t kMaxExact = int64_t{1} << 24;
bool AllExact(const Tensor& integers);

// The refusal of integers whose ranges are not known to be exact, or of booleans.
std::string WhyNotComputed(DType dtype);

// Whether float32 computes the integers of the node exactly: the ranges of its operands and results
// are within kMaxExact. Integers in inputs of the graph are assumed to be, since Core ML cannot
// hold others.
bool IsExactArithmetic(const Node& node);

}  // namespace nn::coreml
