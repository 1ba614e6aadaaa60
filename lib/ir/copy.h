// Copies of nodes in other graphs.
#pragma once

#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Adds a copy of a node of any graph with these inputs, and with regions of its own. Its outputs
// have the types and names of those of the node.
Node* AddCopy(Graph& graph, const Node& node, std::vector<Value*> inputs);

// The same, but the shapes of its outputs are open, so that inference finds those for the inputs;
// their element types and quantization may be declared rather than inferred, and stay. Symbols in
// its attributes that are, or determine, a dimension of an operand become those of the inputs.
Node* AddOpenCopy(Graph& graph, const Node& node, std::vector<Value*> inputs);

// Copies nodes of one graph to another, which has counterparts of their operands.
class NodeCopier {
 public:
  explicit NodeCopier(Graph& to) : to_(to) {}

  void Set(const Value* from, Value* to) { copies_[from] = to; }
  // The counterpart; a copy of a constant is added when it is first asked for. Null for null, and
  // for values without a counterpart.
  Value* Of(const Value* v);
  // AddCopy(), whose outputs are the counterparts of those of the node.
  Node* Add(const Node& node);
  // AddOpenCopy() with its shapes inferred. The errors of InferNode.
  Status AddInferred(const Node& node);

 private:
  std::vector<Value*> OperandsOf(const Node& node);
  void SetOutputs(const Node& node, const Node& copy);

  Graph& to_;
  std::unordered_map<const Value*, Value*> copies_;
};

// Adds copies of all nodes of `part`, with `inputs` in place of its inputs; shapes are inferred
// anew. Returns the values of its outputs. Errors are those of InferNode.
Result<std::vector<Value*>> AddCopies(Graph& graph, const Graph& part,
                                      const std::vector<Value*>& inputs);

}  // namespace nn
