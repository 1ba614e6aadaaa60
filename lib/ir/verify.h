// Structural checks of a graph, run after every pass in debug builds and after every import.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// kInternal if: a value is used before it is defined, a use list is wrong, an output or operand is
// not of this graph, an operand count or attribute type does not fit the operator. kModel if an
// interface name occurs twice, or inference contradicts a type.
Status Verify(Graph& graph);

// kModel unless the quantisation of a type, if any, has a scale and a zero point for every index of
// its axis (or one of each), so that looking one up cannot fail. InferNode asks for every operand.
Status CheckQuant(const Type& type);

}  // namespace nn
