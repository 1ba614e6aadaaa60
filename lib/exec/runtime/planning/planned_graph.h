// A graph whose shapes are known, with the plan of a run.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/file/file.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "exec/program.h"
#include "exec/runtime/planning/plan.h"
#include "ir/eval.h"
#include "ir/graph.h"

namespace nn {

// What a run needs besides the plan. One run at a time.
struct RunState {
  RunState(size_t arena_bytes, size_t threads) : arena(arena_bytes), pool(threads) {}

  Buffer arena;
  ThreadPool pool;
  StepError error;
};

struct PlannedGraph {
  Graph graph;
  Plan plan;
  std::unordered_map<const Value*, MemoryView> views;
  std::vector<StepInfo> infos;  // of the plan's steps

  // Plans the graph, legalized for ExecTarget(). false, and no plan, if that leaves shapes open.
  Result<bool> Build(bool fuse, const RunLimits& limits);

  // Inputs in the graph's order, of its types. `arena` and `error` are for this run alone; the
  // arena has plan.arena_bytes. `runner`: for nodes with regions; may be null. `budget`: see
  // MemoryOf().
  Result<std::vector<Tensor>> Run(std::span<const Tensor> inputs, std::byte* arena,
                                  StepError& error, ThreadPool& pool, NodeRunner* runner,
                                  EvalBudget* budget, const RunRecord& record) const;
  // Runs the steps with a memory of MemoryOf().
  Status RunSteps(const Memory& memory, ThreadPool& pool, const RunRecord& record) const;

 private:
  Status PlanSteps(bool fuse, const RunLimits& limits);
};

// Sets each NaN of `n` elements of an output to the one that outputs have.
void SetOneNanOf(DType dtype, std::byte* data, size_t n);

}  // namespace nn
