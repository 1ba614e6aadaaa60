// The cost of a run, computed before it starts.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "exec/run_limits.h"
#include "exec/runtime/planning/plan.h"
#include "ir/eval.h"
#include "ir/graph.h"

namespace nn {

// Whether the shape of every value is known and every element type has a fixed size.
bool ShapesAreKnown(const Graph& graph);

// The peak size in bytes of the values that are alive at the same time, node by node, with inputs
// and outputs but without constants. Values with unknown shapes count 0.
uint64_t LiveBytes(const Graph& graph);

// Bytes of the values that a run with this plan keeps in memory, and of the plan's packed weights.
uint64_t PlannedBytes(const Graph& graph, const Plan& plan);

// The limits for a run of the reference evaluation.
EvalBudget BudgetOf(const RunLimits& limits);

// Operations of a run (RunLimits::max_work) without or with a plan.
uint64_t ReferenceWork(const Graph& graph);
uint64_t PlannedWork(const Plan& plan);

// The default memory limit.
uint64_t FreeForRuns();

// kLimit if a run of this cost exceeds the limits.
Status CheckRunLimits(uint64_t bytes, uint64_t work, const RunLimits& limits);

}  // namespace nn
