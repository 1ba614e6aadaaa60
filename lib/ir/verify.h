// Structural checks of a graph, run after every pass in debug builds and after every import.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// kInternal if: a value is used before it is defined, a use list is wrong, an output or operand is
// not of this graph, an operand count or attribute type does not fit the operator, an interface
// name occurs twice. kModel if inference contradicts a type.
Status Verify(Graph& graph);

}  // namespace nn
