// Operands that the shapes in a file decide about.
// Design: docs/design/010-declared-shapes.md.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

struct Target;  // rewrite/target.h

// ForgetDeclaredShapes() (passes/core/passes.h) for a graph that is to be legalized. Where the
// target lacks a node because an operand is not constant, and the declared shape of the result
// leaves one possible result, the operand becomes the constant that has it: any other contents
// contradict the file.
Status FitDeclaredShapes(Graph& graph, const Target& target);

}  // namespace nn
