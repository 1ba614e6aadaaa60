// Cuts the computation of one value out of a graph.
#pragma once

#include <functional>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn::against {

// The values from which the nodes that compute `value` start: going back from it, the first for
// which `is_start`, and the inputs of the graph, in the order of their first use. The value itself
// is not among them.
std::vector<const Value*> StartsOf(const Value* value,
                                   const std::function<bool(const Value*)>& is_start);

// A graph that computes `value` from `starts`, as its inputs, which get the shapes of `tensors`.
// Names are unique.
Result<Graph> Extract(const Graph& graph, const std::vector<const Value*>& starts,
                      const std::vector<Tensor>& tensors, const Value* value);

}  // namespace nn::against
