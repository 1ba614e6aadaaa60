// Copies of nodes in other graphs.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace nn {

// Adds a copy of a node of any graph with these inputs, and with regions of its own. Its outputs
// have the types and names of those of the node.
Node* AddCopy(Graph& graph, const Node& node, std::vector<Value*> inputs);

}  // namespace nn
