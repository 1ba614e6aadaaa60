// Structural verification of a graph, run after every import and, in debug builds, after every
// pass.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// kInternal if a value is used before its definition, a use list is inconsistent, or a port,
// operand or output does not belong to the graph. kModel if an interface name is duplicated.
Status CheckStructure(const Graph& graph);

// CheckStructure() and InferGraph(), which infers all types again.
Status Verify(Graph& graph);

// kModel unless the quantization of the type, if any, has one scale and zero point, or one of each
// for every index of its axis, so that lookups are in range. InferNode calls it for every operand.
Status CheckQuant(const Type& type);

}  // namespace nn
