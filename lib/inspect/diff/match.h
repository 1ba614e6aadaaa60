// Pairs the nodes of two graphs.
#pragma once

#include <unordered_map>

#include "ir/graph.h"

namespace nn::inspect {

// Maps nodes of a first graph to their counterparts in a second. The graphs own the nodes.
using Matching = std::unordered_map<const Node*, const Node*>;

// Counterparts are nodes that compute the same from the inputs on, whatever the contents of
// constants; then nodes with equal operator and name; then nodes of one operator in order. No node
// is the counterpart of two. Regions are not compared.
Matching MatchNodes(const Graph& a, const Graph& b);

}  // namespace nn::inspect
