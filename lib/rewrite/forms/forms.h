// The forms that targets want of operators that have several (TargetForms in rewrite/target.h).
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"
#include "ops/nn/conv.h"
#include "rewrite/target.h"

namespace nn {

// Gives a node the first of the forms that it does not have yet; it may erase the node. The name of
// the rewrite, for reports; empty if the node has them all.
Result<std::string_view> ApplyForm(Graph& graph, Node& node, const TargetForms& forms);

// TargetForms::filter_layout of formats whose filters have the channels before the spatial axes: of
// convolutions first those of the output, of transposed ones first those of the input.
std::optional<FilterLayout> ChannelsBeforeTaps(const Node& conv);

// Puts zeros between the groups of the filters for which the target wants them.
Status FillGroupsFor(const TargetForms& forms, Graph& graph);

}  // namespace nn
