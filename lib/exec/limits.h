// What a run takes, told before it begins.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "exec/plan.h"
#include "exec/run_limits.h"
#include "ir/graph.h"

namespace nn {

// Whether the shape of every value is known, and all have elements of a fixed size.
bool ShapesAreKnown(const Graph& graph);

// Bytes of the values that are alive at the same time where they are most, node by node, inputs and
// outputs included and constants not. Values whose shapes are not known count nothing.
uint64_t LiveBytes(const Graph& graph);

// Bytes of the values that a run with this plan has in memory, and of the plan's packed weights.
uint64_t PlannedBytes(const Graph& graph, const Plan& plan);

// Operations of a run (RunLimits::max_work) without a plan, or with it.
uint64_t ReferenceWork(const Graph& graph);
uint64_t PlannedWork(const Plan& plan);

// The bound on memory where none is given.
uint64_t FreeForRuns();

// kLimit where a run that takes so much is not allowed.
Status CheckRunLimits(uint64_t bytes, uint64_t work, const RunLimits& limits);

}  // namespace nn
