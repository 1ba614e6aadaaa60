// Building blocks for rewrites (rewrite/target.h).
// Design: docs/design/007-legalization.md.
#pragma once

#include <functional>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/types/axis_map.h"
#include "ops/nn/conv.h"
#include "ops/support/window.h"
#include "rewrite/legalize.h"

namespace nn {

// Calls `rewrite` for each node, including those that it inserts before a node, until it changes
// nothing. It returns the name of what it applied to the node, which it may erase; empty if it
// applied nothing, and then the unused nodes that it inserted are erased. Adds the names to
// `counts` unless it is null. Returns whether anything changed; an internal error that names the
// target if there is no end.
Result<bool> RewriteNodes(Graph& graph, std::string_view target,
                          const std::function<Result<std::string_view>(Node&)>& rewrite,
                          RewriteCounts* counts);

// Applies OpDef::change_axes with `map` on the node's first output, and inserts transposes around
// the node so that its neighbors are unaffected. False if the operator cannot adapt.
Result<bool> RearrangeAround(Graph& graph, Node& node, const AxisMap& map);

// Sets the layout of an operator with the attribute `layout` with RearrangeAround(). False if it
// has none, or already this one.
Result<bool> SetLayout(Graph& graph, Node& node, Layout layout);

// Replaces a node by the same on values of another element type, between casts: those operands and
// results for which `is_changed`. False if there are none, the operator changes element types
// itself, or `accepts`, unless it is null, does not accept the new node.
Result<bool> ComputeIn(DType dtype, Graph& graph, Node& node, bool (*is_changed)(const Value*),
                       bool (*accepts)(const Node&));

// Replaces a node on float16 or bfloat16 by the same on float32, between casts. Exact, because
// operators compute these types in float32 and round once. False if the node has no such operands,
// or changes element types itself.
Result<bool> ComputeInFloat(Graph& graph, Node& node);

// Sets the filter layout of an operator with the attribute `filter_layout` by permuting the filter.
// False if it has none, or already this one.
Result<bool> SetFilterLayout(Graph& graph, Node& node, FilterLayout layout);

}  // namespace nn
