#include "exec/program.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>

#include "base/text/text.h"
#include "base/thread_pool.h"
#include "exec/runtime/kernel_runner.h"
#include "exec/runtime/limits.h"
#include "exec/runtime/planning/plan_info.h"
#include "exec/runtime/planning/planned_graph.h"
#include "exec/runtime/planning/split.h"
#include "exec/runtime/run_progress.h"
#include "exec/target.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "ir/types/one_nan.h"
#include "passes/core/passes.h"
#include "passes/qdq/qdq.h"

namespace nn {

struct Program::Impl {
  // The graph, with its plan if all shapes are known.
  PlannedGraph whole;
  ProgramOptions options;
  bool planned = false;
  std::vector<Type> input_types;
  // If shapes are open: the part before them, with its plan, and what runs after it. Nullopt:
  // nothing is before them.
  struct Parts {
    PlannedGraph known;
    Graph open;
  };
  std::optional<Parts> parts;
  std::unique_ptr<KernelCache> kernels;  // null: all is left to the reference evaluation
  // The states that no run uses.
  std::mutex mutex;
  std::vector<std::unique_ptr<RunState>> idle;

  Status Build();
  Status BuildOpen();
  std::unique_ptr<RunState> TakeState();
  void PutBack(std::unique_ptr<RunState> state);
  Result<std::vector<Tensor>> Run(std::span<const Tensor> inputs, RunState& state,
                                  const RunRecord& record) const;
  Result<std::vector<Tensor>> RunOpen(std::span<const Tensor> inputs, RunState& state,
                                      const RunRecord& record) const;
};

Status Program::Impl::Build() {
  Graph& graph = whole.graph;
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
  const bool simd = options.backend == Backend::kSimd;
  if (simd) {
    NN_RETURN_IF_ERROR(Legalize(graph, ExecTarget()));
    kernels = std::make_unique<KernelCache>(options);
  }
  AdoptCheckedShapes(graph);
  if (simd && ShapesAreKnown(graph)) {
    // A plan takes about as much memory, and so may planning.
    NN_RETURN_IF_ERROR(CheckRunLimits(LiveBytes(graph), 0, options.limits));
    NN_ASSIGN(planned, whole.Build(options.fuse, options.limits));
  }
  if (!planned) return BuildOpen();
  whole.plan.folded_nodes = folded_nodes;
  PutBack(TakeState());
  return {};
}

Status Program::Impl::BuildOpen() {
  NN_RETURN_IF_ERROR(
      CheckRunLimits(LiveBytes(whole.graph), ReferenceWork(whole.graph), options.limits));
  if (kernels == nullptr) return {};
  std::optional<SplitGraph> split = SplitAtOpenShapes(whole.graph);
  if (!split) return {};
  parts.emplace();
  parts->known.graph = std::move(split->known);
  parts->open = std::move(split->open);
  NN_ASSIGN(const bool built, parts->known.Build(options.fuse, options.limits));
  if (!built) parts.reset();
  return {};
}

std::unique_ptr<RunState> Program::Impl::TakeState() {
  {
    const std::lock_guard lock(mutex);
    if (!idle.empty()) {
      auto state = std::move(idle.back());
      idle.pop_back();
      return state;
    }
  }
  const Plan& plan = parts ? parts->known.plan : whole.plan;
  return std::make_unique<RunState>(plan.arena_bytes, kernels == nullptr ? 1 : options.threads);
}

void Program::Impl::PutBack(std::unique_ptr<RunState> state) {
  const std::lock_guard lock(mutex);
  idle.push_back(std::move(state));
}

Result<std::vector<Tensor>> Program::Impl::Run(std::span<const Tensor> inputs, RunState& state,
                                               const RunRecord& record) const {
  if (!planned) return RunOpen(inputs, state, record);
  KernelRunner runner(*kernels, state.pool);
  if (!record.progress)
    return whole.Run(inputs, state.arena.data(), state.error, state.pool, &runner, nullptr, record);
  RunProgress progress(record.progress, whole.plan.steps.size(), nullptr, &runner);
  NN_RETURN_IF_ERROR(progress.Begin());
  RunRecord steps = record;
  steps.progress = [&](uint64_t, uint64_t) { return progress.Step(); };
  return whole.Run(inputs, state.arena.data(), state.error, state.pool, &progress, nullptr, steps);
}

Result<std::vector<Tensor>> Program::Impl::RunOpen(std::span<const Tensor> inputs, RunState& state,
                                                   const RunRecord& record) const {
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  std::optional<KernelRunner> runner;
  if (kernels != nullptr) runner.emplace(*kernels, state.pool);
  NodeRunner* nodes = runner ? &*runner : nullptr;
  const Graph& open = parts ? parts->open : whole.graph;
  std::optional<RunProgress> progress;
  RunRecord steps;
  if (record.progress) {
    nodes = &progress.emplace(record.progress, parts ? parts->known.plan.steps.size() : 0, &open,
                              nodes);
    steps.progress = [&](uint64_t, uint64_t) { return progress->Step(); };
    NN_RETURN_IF_ERROR(progress->Begin());
  }
  if (parts) {
    NN_ASSIGN(std::vector<Tensor> results, parts->known.Run(inputs, state.arena.data(), state.error,
                                                            state.pool, nodes, nullptr, steps));
    std::ranges::move(results, std::back_inserter(given));
  }
  std::vector<const Tensor*> pointers;
  uint64_t bytes = 0;
  for (const Tensor& t : given) {
    pointers.push_back(&t);
    bytes += t.memory_size();
  }
  EvalBudget budget = BudgetOf(options.limits);
  budget.bytes -= std::min(bytes, budget.bytes);
  budget.runner = nodes;
  NN_ASSIGN(std::vector<Tensor> outputs, EvalGraph(open, pointers, budget, false));
  if (progress) NN_RETURN_IF_ERROR(progress->End());
  for (Tensor& t : outputs) {
    if (!HasNan(t.dtype()) || t.byte_size() == 0) continue;
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(t.dtype(), t.dims()));
    std::memcpy(b.data(), t.blob().data(), t.byte_size());
    SetOneNanOf(b.dtype(), b.data(), static_cast<size_t>(b.elements()));
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
  impl->whole.graph = std::move(graph);
  impl->options = options;
  if (options.threads == 0) impl->options.threads = AvailableProcessors();
  NN_RETURN_IF_ERROR(impl->Build());
  return Program(std::move(impl));
}

Result<std::vector<Tensor>> Program::Run(std::span<const Tensor> inputs,
                                         const RunRecord& record) const {
  const auto& ports = impl_->whole.graph.inputs();
  if (inputs.size() != ports.size())
    return UsageError("{} inputs are given, but the model has {}", inputs.size(), ports.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = impl_->input_types[i];
    if (inputs[i].dtype() != type.dtype || inputs[i].dims() != type.const_dims())
      return UsageError("input {} is {}{}, but the model requires {}", Quote(ports[i].name),
                        DTypeName(inputs[i].dtype()), ToString(ToDims(inputs[i].dims())),
                        type.ToString());
  }
  if (!planned() && record.step_milliseconds != nullptr) record.step_milliseconds->clear();
  if (!planned() && record.trace != nullptr) *record.trace = {};
  std::unique_ptr<RunState> state = impl_->TakeState();
  auto results = impl_->Run(inputs, *state, record);
  impl_->PutBack(std::move(state));
  return results;
}

const Graph& Program::graph() const {
  return impl_->whole.graph;
}
bool Program::planned() const {
  return impl_->planned;
}
PlanInfo Program::Explain() const {
  if (!planned()) return {};
  return DescribePlan(impl_->whole.graph, impl_->whole.plan, impl_->whole.views);
}
const std::vector<StepInfo>& Program::steps() const {
  return impl_->whole.infos;
}
const ProgramOptions& Program::options() const {
  return impl_->options;
}
uint64_t Program::arena_bytes() const {
  return impl_->whole.plan.arena_bytes;
}
uint64_t Program::packed_bytes() const {
  return impl_->whole.plan.packed_bytes;
}

}  // namespace nn
