// Values that are views of the memory of others.
#pragma once

#include <span>

#include "exec/runtime/planning/plan.h"

namespace nn {

// Whether the result has the elements of the node's first input in the same order: a reshape, or a
// permutation that moves nothing.
bool IsView(const Node& node);

// The view of a part of `value`, whose view is `whole`: the part begins at index `first` of
// `axis` and differs from the whole on this axis only. nullopt if the part is neither contiguous
// nor made of rows.
std::optional<MemoryView> PartOf(const MemoryView& whole, const Value* value, size_t axis,
                                 int64_t first);

// Whether all users of the value accept strided rows.
bool UsersAcceptStrides(const Value* value);

// Places the inputs of concatenations within the result, and the inputs of views and of in-place
// updates in the memory of the result, where their producers and users support it. Called before
// any group is planned.
void PlaceParts(const Graph& graph, std::span<const Group> groups, PlanContext& ctx);

}  // namespace nn
