#include "exec/program.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <unordered_set>

#include "base/checked_math.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "exec/kernels/elementwise.h"
#include "exec/runtime/build_plan.h"
#include "exec/runtime/limits.h"
#include "exec/runtime/plan.h"
#include "exec/runtime/plan_info.h"
#include "exec/runtime/trace.h"
#include "exec/steps/half.h"
#include "exec/target.h"
#include "ir/eval.h"
#include "ir/one_nan.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "passes/passes.h"
#include "passes/qdq.h"

namespace nn {
namespace {

void SetOneNanOf(TensorBuilder& tensor) {
  const auto n = static_cast<size_t>(tensor.elements());
  if (tensor.dtype() == DType::kF32)
    SetOneNanF32(reinterpret_cast<float*>(tensor.data()), n);
  else
    SetOneNan(tensor.dtype(), tensor.data(), n);
}

// Whether running a step is cheaper than distributing it to other threads.
bool IsShort(const Step& step) {
  constexpr uint64_t kBytes = 32768;
  constexpr int64_t kMultiplyAdds = 65536;
  return step.bytes < kBytes && step.multiply_adds < kMultiplyAdds;
}

}  // namespace

// What a run needs besides the plan.
struct RunState {
  RunState(size_t arena_bytes, size_t threads) : arena(arena_bytes), pool(threads) {}

  Buffer arena;
  ThreadPool pool;
  StepError error;
};

struct Program::Impl {
  Graph graph;
  ProgramOptions options;
  Plan plan;
  std::unordered_map<const Value*, MemoryView> views;
  std::vector<Type> input_types;
  std::vector<StepInfo> infos;
  // The states that no run uses.
  std::mutex mutex;
  std::vector<std::unique_ptr<RunState>> idle;

  Status Build();
  Status PlanSteps();
  std::unique_ptr<RunState> TakeState();
  Result<std::vector<Tensor>> RunPlan(std::span<const Tensor> inputs, const RunRecord& record);
  Result<std::vector<Tensor>> RunSteps(std::span<const Tensor> inputs, RunState& state,
                                       const RunRecord& record) const;
  Result<std::vector<Tensor>> RunReference(std::span<const Tensor> inputs) const;
};

Status Program::Impl::Build() {
  if (options.limits.max_memory == 0) options.limits.max_memory = FreeForRuns();
  for (const Port& p : graph.inputs()) {
    if (!p.value->type().const_dims())
      return UsageError("input {} is {}: its shape must be specified", Quote(p.name),
                        p.value->type().ToString());
    input_types.push_back(p.value->type());
  }
  for (const Node& n : graph.nodes())
    if (n.op().is_opaque) return UnsupportedError("{} cannot be executed", n.Describe());
  const size_t nodes = graph.nodes().size();
  NN_RETURN_IF_ERROR(RunPass("dead code", graph, RemoveDeadCode));
  NN_RETURN_IF_ERROR(RunPass("declared shapes", graph, CheckDeclaredShapes));
  NN_RETURN_IF_ERROR(RunPass("dequantize constants", graph, DequantizeConstants));
  NN_RETURN_IF_ERROR(RunPass("fold", graph, FoldConstants));
  const size_t folded_nodes = nodes - std::min(nodes, graph.nodes().size());
  if (options.backend == Backend::kSimd) NN_RETURN_IF_ERROR(Legalize(graph, ExecTarget()));
  AdoptCheckedShapes(graph);
  const auto run_on_reference = [&]() -> Status {
    options.backend = Backend::kReference;
    plan = Plan();
    return CheckRunLimits(LiveBytes(graph), ReferenceWork(graph), options.limits);
  };
  // Shapes known only at run time: executed node by node.
  if (options.backend == Backend::kReference || !ShapesAreKnown(graph)) return run_on_reference();
  // A plan takes about as much memory, and so may planning.
  NN_RETURN_IF_ERROR(CheckRunLimits(LiveBytes(graph), 0, options.limits));
  NN_RETURN_IF_ERROR(PlanSteps());
  // Operators without a kernel for 16-bit types may have one for float32.
  std::unordered_set<const Node*> without_kernel;
  for (const auto& step : plan.steps)
    if (step->reference) without_kernel.insert(step->nodes.begin(), step->nodes.end());
  NN_ASSIGN(const bool changed, ComputeHalfInFloat(graph, without_kernel));
  if (changed) {
    NN_RETURN_IF_ERROR(RunPass("fold", graph, FoldConstants));
    if (!ShapesAreKnown(graph)) return run_on_reference();
    NN_RETURN_IF_ERROR(PlanSteps());
  }
  plan.folded_nodes = folded_nodes;
  idle.push_back(std::make_unique<RunState>(plan.arena_bytes, options.threads));
  return {};
}

Status Program::Impl::PlanSteps() {
  plan = Plan();
  views.clear();
  NN_RETURN_IF_ERROR(BuildPlan(graph, options.fuse, BudgetOf(options.limits), plan, views));
  NN_RETURN_IF_ERROR(CheckRunLimits(PlannedBytes(graph, plan), PlannedWork(plan), options.limits));
  infos.clear();
  for (const auto& step : plan.steps) infos.push_back(DescribeStep(*step));
  return {};
}

std::unique_ptr<RunState> Program::Impl::TakeState() {
  const std::lock_guard lock(mutex);
  if (idle.empty()) return nullptr;
  auto state = std::move(idle.back());
  idle.pop_back();
  return state;
}

Result<std::vector<Tensor>> Program::Impl::RunPlan(std::span<const Tensor> inputs,
                                                   const RunRecord& record) {
  std::unique_ptr<RunState> state = TakeState();
  if (state == nullptr) state = std::make_unique<RunState>(plan.arena_bytes, options.threads);
  auto results = RunSteps(inputs, *state, record);
  const std::lock_guard lock(mutex);
  idle.push_back(std::move(state));
  return results;
}

Result<std::vector<Tensor>> Program::Impl::RunSteps(std::span<const Tensor> inputs, RunState& state,
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
  Poison({state.arena.data(), state.arena.size()});
  const Memory memory = MemoryOf(plan, in, out, state.arena.data(), state.error);
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
          state.pool.ParallelFor(grid, [&](size_t i) { item(first + i); });
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
    if (auto error = state.error.Take()) return tl::unexpected(*std::move(error));
  }
  if (tracer) *record.trace = tracer->Result();
  std::vector<Tensor> results;
  for (TensorBuilder& b : outputs) {
    SetOneNanOf(b);
    results.push_back(b.Finish());
  }
  return results;
}

Result<std::vector<Tensor>> Program::Impl::RunReference(std::span<const Tensor> inputs) const {
  std::vector<const Tensor*> pointers;
  uint64_t given = 0;
  for (const Tensor& t : inputs) {
    pointers.push_back(&t);
    given += t.memory_size();
  }
  EvalBudget budget = BudgetOf(options.limits);
  budget.bytes -= std::min(given, budget.bytes);
  NN_ASSIGN(std::vector<Tensor> outputs, EvalGraph(graph, pointers, budget, false));
  for (Tensor& t : outputs) {
    if (!HasNan(t.dtype())) continue;
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(t.dtype(), t.dims()));
    std::memcpy(b.data(), t.blob().data(), t.byte_size());
    SetOneNanOf(b);
    t = b.Finish();
  }
  return outputs;
}

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Result<Program> Program::Compile(const Graph& graph, const ProgramOptions& options) {
  return Compile(graph.Clone(), options);
}

Result<Program> Program::Compile(Graph&& graph, const ProgramOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->graph = std::move(graph);
  impl->options = options;
  NN_RETURN_IF_ERROR(impl->Build());
  return Program(std::move(impl));
}

Result<std::vector<Tensor>> Program::Run(std::span<const Tensor> inputs,
                                         const RunRecord& record) const {
  const auto& ports = impl_->graph.inputs();
  if (inputs.size() != ports.size())
    return UsageError("{} inputs are given, but the model has {}", inputs.size(), ports.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = impl_->input_types[i];
    if (inputs[i].dtype() != type.dtype || inputs[i].dims() != type.const_dims())
      return UsageError("input {} is {}{}, but the model requires {}", Quote(ports[i].name),
                        DTypeName(inputs[i].dtype()), ToString(ToDims(inputs[i].dims())),
                        type.ToString());
  }
  if (planned()) return impl_->RunPlan(inputs, record);
  if (record.step_milliseconds != nullptr) record.step_milliseconds->clear();
  if (record.trace != nullptr) *record.trace = {};
  return impl_->RunReference(inputs);
}

const Graph& Program::graph() const {
  return impl_->graph;
}
bool Program::planned() const {
  return impl_->options.backend == Backend::kSimd;
}
PlanInfo Program::Explain() const {
  if (!planned()) return {};
  return DescribePlan(impl_->graph, impl_->plan, impl_->views);
}
const std::vector<StepInfo>& Program::steps() const {
  return impl_->infos;
}
uint64_t Program::arena_bytes() const {
  return impl_->plan.arena_bytes;
}
uint64_t Program::packed_bytes() const {
  return impl_->plan.packed_bytes;
}

}  // namespace nn
