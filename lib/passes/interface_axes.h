// Rearrangements of axes at a graph's inputs and outputs become the callers' business. Part of
// Legalise.
#pragma once

#include "base/status.h"
#include "ir/graph.h"
#include "passes/legalise.h"

namespace nn {

// No input or output has moved.
InterfaceAxes IdentityInterface(const Graph& graph);

// Where an input is only ever read through one permutation, the input itself gets the permuted
// axes; where an output is the permutation of a value, the value itself becomes the output. Adds
// what was done to `interface`.
Status MoveInterface(Graph& graph, InterfaceAxes& interface);

}  // namespace nn
