// The part of a graph that can be planned although other sizes are known only to a run.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace nn {

struct SplitGraph {
  Graph known;  // the inputs of the graph; outputs: what the rest needs of it
  Graph open;   // inputs: those of the graph, then the outputs of `known`
};

// The nodes whose operands have known shapes, as all before them do, and the others. Nullopt if
// there are none.
std::optional<SplitGraph> SplitAtOpenShapes(const Graph& graph);

}  // namespace nn
