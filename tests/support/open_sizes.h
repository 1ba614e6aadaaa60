// Sizes for graphs with dynamic shapes.
#pragma once

#include "ir/graph.h"

namespace nn::test {

// Gives the symbols in the inputs' shapes sizes: 2 for a batch (a symbol of a first dimension), 4
// otherwise. kUsage if an input has no rank.
Status BindOpenSizes(Graph& graph);

}  // namespace nn::test
