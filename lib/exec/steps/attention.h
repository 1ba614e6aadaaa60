// Attention, y = softmax(q k + ...) v, with a large matrix of scores: computed in bands of query
// rows, so that only one band exists at a time. Every row is computed as by the separate operators,
// so the bits are the same.
//
// Design: docs/design/051-attention-bands.md.
#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exec/runtime/planning/plan.h"

namespace nn {

// The groups of a graph that form such attentions: a product, elementwise operators on its result,
// a softmax of the rows, and a product with that as the left operand.
class AttentionGroups {
 public:
  AttentionGroups(const Graph& graph, std::span<const Group> groups);

  // Whether the group is part of an attention that ends with a later one.
  bool IsDeferred(size_t group) const { return deferred_.contains(group); }
  // The groups of the attention that ends with this one, in order; empty if there is none.
  std::span<const size_t> EndingAt(size_t group) const {
    const auto it = regions_.find(group);
    return it == regions_.end() ? std::span<const size_t>() : std::span(it->second);
  }

 private:
  std::unordered_map<size_t, std::vector<size_t>> regions_;  // by the last group
  std::unordered_set<size_t> deferred_;
};

// Adds a step for the groups of an attention. False if this step does not support them; the groups
// must then be planned one by one.
Result<bool> PlanAttention(PlanContext& ctx, std::span<const Group> groups,
                           std::span<const size_t> region);

}  // namespace nn
