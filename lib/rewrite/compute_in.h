// Changes the element type in which one operator computes.
#pragma once

#include <functional>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/types/dtype.h"

namespace nn {

// ComputeIn() (rewrite/rewrite.h) with conditions that have state. Returns the new node; null if
// there is none. Null `accepts`: every new node.
Result<Node*> ComputeNodeIn(DType dtype, Graph& graph, Node& node,
                            const std::function<bool(const Value*)>& is_changed,
                            const std::function<bool(const Node&)>& accepts);

}  // namespace nn
