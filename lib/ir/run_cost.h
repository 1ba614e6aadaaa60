// The arithmetic that one run of a graph does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ir/graph.h"

namespace nn {

// Multiply-adds of one run of the nodes, which are in the order of the graph; nullopt if those of
// one are unknown or the sum overflows. Of branches between which a run decides, as regions or as
// nodes that only one operand of a `select` needs, the one with more counts. Such nodes are those
// imported from the same operator of the file as the select; what the file computes outside is
// computed in every run. `count_opaque` false: opaque nodes have no multiply-adds; otherwise
// theirs are unknown.
std::optional<uint64_t> MultiplyAddsOf(const Graph& graph, std::span<const Node* const> nodes,
                                       bool count_opaque = true);
std::optional<uint64_t> MultiplyAddsOf(const Graph& graph, bool count_opaque = true);

}  // namespace nn
