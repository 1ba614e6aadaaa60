// Replaces transposes at graph inputs and outputs by a changed axis order of the interface, which
// callers must apply. Part of Legalize.
#pragma once

#include "base/status.h"
#include "ir/graph.h"
#include "rewrite/legalize.h"

namespace nn {

// The identity for all inputs and outputs.
InterfaceAxes IdentityInterface(const Graph& graph);

// If all uses of an input are the same transpose, the input itself gets the permuted axes, and
// likewise loses unit axes that the target cannot remove; if an output is the transpose of a value
// and has no other use, the value itself becomes the output. Records the changes in `interface`.
Status MoveInterface(Graph& graph, const Target& target, InterfaceAxes& interface);

}  // namespace nn
