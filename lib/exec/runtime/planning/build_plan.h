// The steps of a graph whose shapes are known.
#pragma once

#include "exec/runtime/planning/plan.h"
#include "ir/eval.h"

namespace nn {

// Plans the graph's groups, one after the other. `fuse`: whether elementwise nodes may join the
// step that produces their input, and attention may be computed in bands.
Status BuildPlan(Graph& graph, bool fuse, const EvalBudget& budget, Plan& plan,
                 std::unordered_map<const Value*, MemoryView>& views);

// The memory of a run of a plan. `error`, and `runner` and `budget`, which may be null, must
// outlive it. `budget`: what is left for the loops of the plan if it is that of a region, which
// shares it with the graph around it; null: each loop has the budget of the plan.
Memory MemoryOf(const Plan& plan, std::span<std::byte* const> inputs,
                std::span<std::byte* const> outputs, std::byte* arena, StepError& error,
                NodeRunner* runner, EvalBudget* budget);

}  // namespace nn
