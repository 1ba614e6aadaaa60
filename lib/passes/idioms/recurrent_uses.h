// The uses of the values of an unrolled recurrent layer by the rest of the graph.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "passes/idioms/recurrent_chain.h"

namespace nn {

// A concatenation of the results of all steps.
struct StackedSteps {
  Node* concat;
  Node* result;         // the concatenation, or its reversal if nothing else uses it
  bool is_reversed;     // from the last step in the order of x to the first
  bool is_batch_first;  // [B, T, H] in order, instead of [T, B, H]
};

class ChainUses {
 public:
  ChainUses(const Graph& graph, const RecurrentChain& chain);

  // The nodes of the steps.
  const NodeSet& nodes() const { return nodes_; }
  // Whether values that a layer does not return have uses outside.
  bool HasOtherResults() const;

  const std::vector<StackedSteps>& stacks() const { return stacks_; }
  // Whether nodes other than the stacks use the h of a step.
  bool uses(size_t step) const { return used_[step]; }
  bool uses_cell_state() const { return uses_cell_state_; }  // the last one
  // Whether of all h only the last one is used.
  bool uses_only_last() const;
  bool any() const;

 private:
  bool IsUsed(const Value* v) const;
  bool IsStack(const Node* node) const;
  void FindStacks();
  std::optional<StackedSteps> StackOf(Node& concat) const;

  const Graph& graph_;
  const RecurrentChain& chain_;
  NodeSet nodes_;
  std::vector<StackedSteps> stacks_;
  std::vector<bool> used_;
  bool uses_cell_state_ = false;
};

}  // namespace nn
