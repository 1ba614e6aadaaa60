#include "exec/runtime/planning/planned_graph.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/memory.h"
#include "exec/kernels/elementwise.h"
#include "exec/runtime/limits.h"
#include "exec/runtime/planning/build_plan.h"
#include "exec/runtime/planning/plan_info.h"
#include "exec/runtime/trace.h"
#include "exec/steps/half.h"
#include "ir/types/one_nan.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

// Whether running a step is cheaper than distributing it to other threads.
bool IsShort(const Step& step) {
  constexpr uint64_t kBytes = 32768;
  constexpr int64_t kMultiplyAdds = 65536;
  return step.bytes < kBytes && step.multiply_adds < kMultiplyAdds;
}

}  // namespace

void SetOneNanOf(DType dtype, std::byte* data, size_t n) {
  if (dtype == DType::kF32)
    SetOneNanF32(reinterpret_cast<float*>(data), n);
  else
    SetOneNan(dtype, data, n);
}

Result<bool> PlannedGraph::Build(bool fuse, const RunLimits& limits) {
  NN_RETURN_IF_ERROR(PlanSteps(fuse, limits));
  // Operators without a kernel for 16-bit types may have one for float32.
  std::unordered_set<const Node*> without_kernel;
  for (const auto& step : plan.steps)
    if (step->reference) without_kernel.insert(step->nodes.begin(), step->nodes.end());
  NN_ASSIGN(const bool changed, ComputeHalfInFloat(graph, without_kernel));
  if (!changed) return true;
  NN_RETURN_IF_ERROR(RunPass("fold", graph, FoldConstants));
  if (!ShapesAreKnown(graph)) {
    plan = Plan();
    infos.clear();
    return false;
  }
  NN_RETURN_IF_ERROR(PlanSteps(fuse, limits));
  return true;
}

Status PlannedGraph::PlanSteps(bool fuse, const RunLimits& limits) {
  plan = Plan();
  views.clear();
  NN_RETURN_IF_ERROR(BuildPlan(graph, fuse, BudgetOf(limits), plan, views));
  NN_RETURN_IF_ERROR(CheckRunLimits(PlannedBytes(graph, plan), PlannedWork(plan), limits));
  infos.clear();
  for (const auto& step : plan.steps) infos.push_back(DescribeStep(*step));
  return {};
}

Result<std::vector<Tensor>> PlannedGraph::Run(std::span<const Tensor> inputs, std::byte* arena,
                                              StepError& error, ThreadPool& pool,
                                              NodeRunner* runner, EvalBudget* budget,
                                              const RunRecord& record) const {
  std::vector<Tensor> aligned;
  for (const Tensor& t : inputs) aligned.push_back(t.Aligned());
  std::vector<TensorBuilder> outputs;
  for (const Port& p : graph.outputs()) {
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(p.value->dtype(), ShapeOf(p.value)));
    outputs.push_back(std::move(b));
  }
  std::vector<std::byte*> in, out;
  // Steps do not write to inputs.
  for (const Tensor& t : aligned) in.push_back(const_cast<std::byte*>(t.blob().data()));
  for (TensorBuilder& b : outputs) out.push_back(b.data());
  Poison({arena, plan.arena_bytes});
  NN_RETURN_IF_ERROR(RunSteps(MemoryOf(plan, in, out, arena, error, runner, budget), pool, record));
  std::vector<Tensor> results;
  for (TensorBuilder& b : outputs) {
    SetOneNanOf(b.dtype(), b.data(), static_cast<size_t>(b.elements()));
    results.push_back(b.Finish());
  }
  return results;
}

Status PlannedGraph::RunSteps(const Memory& memory, ThreadPool& pool,
                              const RunRecord& record) const {
  std::optional<Tracer> tracer;
  if (record.trace != nullptr) tracer.emplace();
  if (record.step_milliseconds != nullptr) record.step_milliseconds->assign(plan.steps.size(), 0.0);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = *plan.steps[s];
    const auto begin = record.step_milliseconds != nullptr
                           ? std::chrono::steady_clock::now()
                           : std::chrono::steady_clock::time_point();
    const size_t grid = step.grid();
    const size_t end = step.rounds() * grid;
    const auto run = [&](auto&& item) {
      if (IsShort(step)) {
        for (size_t i = 0; i < end; ++i) item(i);
      } else {
        for (size_t first = 0; first < end; first += grid)
          pool.ParallelFor(grid, [&](size_t i) { item(first + i); });
      }
    };
    if (!tracer) {
      run([&](size_t i) { step.Run(memory, i); });
    } else {
      tracer->BeginStep(step);
      run([&](size_t i) { tracer->RunItem(step, memory, i); });
      tracer->EndStep();
    }
    if (record.step_milliseconds != nullptr)
      (*record.step_milliseconds)[s] =
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
              .count();
    // Later steps rely on the checks of earlier ones.
    if (auto failure = memory.error().Take()) return tl::unexpected(*std::move(failure));
    if (record.progress) NN_RETURN_IF_ERROR(record.progress(s + 1, plan.steps.size()));
  }
  if (tracer) *record.trace = tracer->Result();
  return {};
}

}  // namespace nn
