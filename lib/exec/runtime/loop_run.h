// The iterations of a loop whose carried values keep their shapes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "exec/runtime/planning/planned_graph.h"
#include "ir/eval.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

// Whether each iteration of the "loop" node can run with the same plan: the region, inferred for
// the loop's inputs, returns its carried values in the shapes in which it takes them, and an
// element of a stack has whole bytes.
bool KeepsShapes(const Node& loop, const Graph& region);

// What runs the region of a loop. Not owned.
struct LoopBody {
  const PlannedGraph& region;
  std::byte* arena;  // region.plan.arena_bytes
  StepError& error;
  ThreadPool& pool;
  NodeRunner* runner;  // for loops and branches in the region; may be null
};

// Runs a "loop" node for which KeepsShapes(). Inputs and results as for EvalNode(), null inputs if
// absent. Carried values alternate between two buffers and elements of stacks are written in place,
// so that an iteration allocates nothing; a stack of unknown length grows by doubling. kLimit if
// the budget is exceeded.
Result<std::vector<Tensor>> RunLoop(const Node& loop, std::span<const Tensor* const> inputs,
                                    const LoopBody& body, EvalBudget& budget);

}  // namespace nn
