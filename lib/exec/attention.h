// Attention, y = softmax(q k + ...) v, where the matrix of scores is large: computed by bands of
// query rows, so that only a band of it exists at a time. Every row is computed as the single
// operators do it, so the bits are the same.
#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exec/plan.h"

namespace nn {

// Which groups of a graph are such attentions: a product, elementwise operators on its result, a
// softmax of the rows, and a product with that on the left.
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

// Adds a step for the groups of an attention. False: not for these; they are to be planned one by
// one.
Result<bool> PlanAttention(PlanContext& ctx, std::span<const Group> groups,
                           std::span<const size_t> region);

}  // namespace nn
