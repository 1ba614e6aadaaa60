// Values that lie in the memory of others.
#pragma once

#include <span>

#include "exec/plan.h"

namespace nn {

// The node whose result has the elements of its first input in the same order: a reshape, or a
// rearrangement of axes that moves nothing.
bool IsView(const Node& node);

// The place of a part of a value: `part` is its shape, which begins at index `first` of `axis` and
// differs from that of the whole on this axis only. nullopt if the part is neither a run of memory
// nor made of rows.
std::optional<Place> PartOf(const Place& whole, const Value* value, size_t axis, int64_t first);

// Whether all who read the value take it with rows that are further apart than they are long.
bool TakenStrided(const Value* value);

// Gives the inputs of concatenations places within the result, and inputs of views and of what
// writes to some elements only the place of the result, where those who make and read them can work
// there. Called before any group is planned.
void PlaceParts(const Graph& graph, std::span<const Group> groups, PlanContext& ctx);

}  // namespace nn
