// The steps of a graph whose shapes are known.
#pragma once

#include "exec/plan.h"

namespace nn {

// Plans the graph's groups, one after the other. `fuse`: whether elementwise nodes may join the
// step that feeds them, and attention be computed by bands.
Status BuildPlan(Graph& graph, bool fuse, Plan& plan,
                 std::unordered_map<const Value*, Place>& places);

// The memory of a plan's buffers, by number.
Memory MemoryOf(const Plan& plan, std::span<std::byte* const> inputs,
                std::span<std::byte* const> outputs, std::byte* arena);

}  // namespace nn
