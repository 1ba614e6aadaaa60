#include "exec/stepper.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/text.h"
#include "exec/runtime/kernel_runner.h"
#include "exec/runtime/limits.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "passes/core/passes.h"
#include "passes/qdq/qdq.h"

namespace nn {

Stepper::Stepper(Graph graph, const ProgramOptions& options)
    : graph_(std::move(graph)),
      options_(options),
      uses_(graph_),
      tensors_(graph_),
      done_(graph_),
      work_(options.limits.max_work),
      pool_(std::make_unique<ThreadPool>(options.threads)) {
  for (const Value& v : graph_.values()) uses_[&v] = v.uses().size();
}

Result<Stepper> Stepper::Create(Graph graph, const ProgramOptions& options) {
  ProgramOptions o = options;
  if (o.limits.max_memory == 0) o.limits.max_memory = FreeForRuns();
  if (o.threads == 0) o.threads = AvailableProcessors();
  for (const Node& n : graph.nodes())
    if (n.op().is_opaque) return UnsupportedError("{} cannot be executed", n.Describe());
  NN_RETURN_IF_ERROR(RunPass("dead code", graph, RemoveDeadCode));
  NN_RETURN_IF_ERROR(RunPass("declared shapes", graph, CheckDeclaredShapes));
  NN_RETURN_IF_ERROR(RunPass("dequantize constants", graph, DequantizeConstants));
  NN_RETURN_IF_ERROR(RunPass("fold", graph, FoldConstants));
  return Stepper(std::move(graph), o);
}

Status Stepper::Start(std::vector<Tensor> inputs) {
  const auto& ports = graph_.inputs();
  if (inputs.size() != ports.size())
    return UsageError("{} inputs are given, but the model has {}", inputs.size(), ports.size());
  for (const Value& v : graph_.values()) {
    tensors_[&v] = Tensor();
    done_[&v] = v.def() == nullptr ? 1 : 0;
    uses_[&v] = v.uses().size();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type actual(inputs[i].dtype(), ToDims(inputs[i].dims()));
    if (!Compatible(ports[i].value->type(), actual))
      return UsageError("input {} is {}, expected {}", Quote(ports[i].name), actual.ToString(),
                        ports[i].value->type().ToString());
    tensors_[ports[i].value] = std::move(inputs[i]);
  }
  alive_ = 0;
  work_ = options_.limits.max_work;
  return {};
}

const Tensor& Stepper::At(const Value* value) const {
  return value->is_constant() ? value->constant() : tensors_[value];
}

void Stepper::Release(const Value* value) {
  if (--uses_[value] != 0 || value->def() == nullptr || done_[value] == 0) return;
  alive_ -= std::min(alive_, tensors_[value].memory_size());
  tensors_[value] = Tensor();
}

Status Stepper::Compute(const Value* value) {
  // Depth first, without recursion: graphs are as deep as they are long.
  std::vector<const Value*> stack = {value};
  while (!stack.empty()) {
    const Value* const v = stack.back();
    if (done_[v] != 0) {
      stack.pop_back();
      continue;
    }
    const size_t before = stack.size();
    for (const Value* x : v->def()->inputs())
      if (x != nullptr && done_[x] == 0) stack.push_back(x);
    if (stack.size() != before) continue;
    NN_RETURN_IF_ERROR(RunNode(*v->def()));
    stack.pop_back();
  }
  return {};
}

Result<std::vector<Tensor>> Stepper::Evaluate(const Node& node,
                                              const std::vector<const Tensor*>& operands) {
  RunLimits limits = options_.limits;
  limits.max_work = work_;
  EvalBudget budget = BudgetOf(limits);
  budget.bytes -= std::min(alive_, budget.bytes);
  std::optional<Result<std::vector<Tensor>>> results;
  if (options_.backend == Backend::kSimd) {
    // The node is not run again.
    KernelCache once(options_);
    results = KernelRunner(once, *pool_).RunNode(node, operands, budget);
  }
  if (!results) results = EvalNode(node, operands, &budget);
  if (work_ != RunLimits::kAnyWork) work_ = budget.work * RunLimits::kReferenceWork;
  return *std::move(results);
}

Status Stepper::RunNode(const Node& node) {
  std::vector<const Tensor*> operands;
  for (const Value* v : node.inputs()) operands.push_back(v == nullptr ? nullptr : &At(v));
  NN_ASSIGN(std::vector<Tensor> results, Evaluate(node, operands));
  for (size_t i = 0; i < results.size(); ++i) {
    const Value* const v = node.output(i);
    done_[v] = 1;
    alive_ += results[i].memory_size();
    tensors_[v] = std::move(results[i]);
  }
  peak_ = std::max(peak_, alive_);
  for (const Value* v : node.outputs())
    if (uses_[v] == 0) {
      alive_ -= std::min(alive_, tensors_[v].memory_size());
      tensors_[v] = Tensor();
    }
  for (const Value* v : node.inputs())
    if (v != nullptr) Release(v);
  return {};
}

}  // namespace nn
