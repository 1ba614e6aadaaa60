// The types with which an operator has TensorFlow Lite's integer arithmetic.
#pragma once

#include <span>

#include "ir/graph.h"
#include "ir/types/type.h"

namespace nn {

// Whether FuseQdq() (passes/qdq/qdq.h) may make the node an operator on quantized types if its
// operands and results have these types; null for an absent operand.
bool HasIntegerArithmetic(const Node& node, std::span<const Type* const> inputs,
                          std::span<const Type* const> outputs);

}  // namespace nn
