// Reverse-mode differentiation of values of a graph.
// Design: docs/design/032-gradients.md.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Adds nodes at the end of the graph for the derivatives of the sum of y's elements with respect to
// each of `xs`, which are floats; a derivative has the type of its x. The xs are independent: their
// definitions are not differentiated. The derivative is zero if y does not depend on x.
//
// Where an operator has no derivative, the result is that of the branch it takes: of the operand
// that a minimum or maximum of equal operands selects, or of a side of a kink. Extrema over axes
// divide the derivative evenly among equal elements.
//
// kUnsupported for a node between x and y whose operator has no rule, or if a rule needs to know
// more about the shapes. The nodes that were added remain then.
Result<std::vector<Value*>> AddGradient(Graph& graph, Value* y, std::span<Value* const> xs);

}  // namespace nn
