// Copies of nodes in other graphs.
#pragma once

#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Adds a copy of a node of any graph with these inputs, and with regions of its own. Its outputs
// have the types and names of those of the node.
Node* AddCopy(Graph& graph, const Node& node, std::vector<Value*> inputs);

// The same, but the shapes of its outputs are open, so that inference finds those for the inputs;
// their element types and quantization may be declared rather than inferred, and stay.
Node* AddOpenCopy(Graph& graph, const Node& node, std::vector<Value*> inputs);

// Adds copies of all nodes of `part`, with `inputs` in place of its inputs;
// shapes are inferred anew. Returns the values of its outputs. Errors are those of InferNode.
Result<std::vector<Value*>> AddCopies(Graph& graph, const Graph& part,
                                      const std::vector<Value*>& inputs);

}  // namespace nn
