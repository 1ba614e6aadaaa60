#include "exec/stepper.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "exec/runtime/limits.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "passes/passes.h"
#include "passes/qdq.h"

namespace nn {
namespace {

// Operations on elements from which planning a node takes less time than its scalar evaluation.
constexpr uint64_t kWorthPlanning = 16384;

// A graph of the node alone, whose inputs have the shapes of the operands; nullopt if the shapes of
// its results depend on contents.
Result<std::optional<Graph>> GraphOf(const Node& node, const std::vector<const Tensor*>& operands) {
  Graph graph;
  std::vector<Value*> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Value* v = node.input(i);
    if (v == nullptr)
      inputs.push_back(nullptr);
    else if (v->is_constant())
      inputs.push_back(graph.AddConstant(v->constant(), {}, v->type().quant));
    else
      inputs.push_back(
          graph.AddInput(fmt::format("in_{}", i),
                         Type(operands[i]->dtype(), ToDims(operands[i]->dims()), v->type().quant)));
  }
  Node* const copy =
      graph.AddNode(node.op(), std::move(inputs), node.attrs(), node.outputs().size());
  copy->set_arithmetic(node.arithmetic());
  copy->set_name(node.name());
  copy->set_source(node.source());
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    // Element type and quantization may be declared rather than inferred.
    Type declared = node.output(i)->type();
    declared.dims.reset();
    copy->output(i)->set_type(std::move(declared));
  }
  NN_RETURN_IF_ERROR(InferNode(*copy));
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Type& type = copy->output(i)->type();
    if (!Compatible(node.output(i)->type(), type))
      return ContradictionError(node, i, node.output(i)->type(), type);
    graph.AddOutput(fmt::format("out_{}", i), copy->output(i));
  }
  if (!ShapesAreKnown(graph)) return std::optional<Graph>();
  return std::optional(std::move(graph));
}

}  // namespace

Stepper::Stepper(Graph graph, const ProgramOptions& options)
    : graph_(std::move(graph)),
      options_(options),
      uses_(graph_),
      tensors_(graph_),
      done_(graph_),
      work_(options.limits.max_work) {
  for (const Value& v : graph_.values()) uses_[&v] = v.uses().size();
}

Result<Stepper> Stepper::Create(Graph graph, const ProgramOptions& options) {
  ProgramOptions o = options;
  if (o.limits.max_memory == 0) o.limits.max_memory = FreeForRuns();
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
  alive_ = peak_ = 0;
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
  const bool plans = options_.backend == Backend::kSimd && !IsChecked(node) &&
                     node.regions().empty() && WorkOf(node).value_or(0) >= kWorthPlanning;
  if (plans) {
    NN_ASSIGN(std::optional<Graph> alone, GraphOf(node, operands));
    if (alone) {
      ProgramOptions o = options_;
      o.limits.max_memory -= std::min(alive_, o.limits.max_memory);
      o.limits.max_work = work_;
      std::vector<Tensor> inputs;
      for (size_t i = 0; i < operands.size(); ++i)
        if (operands[i] != nullptr && !node.input(i)->is_constant()) inputs.push_back(*operands[i]);
      auto program = Program::Compile(*std::move(alone), o);
      if (!program) return tl::unexpected(program.error().In(node.Describe()));
      if (work_ != RunLimits::kAnyWork) work_ -= std::min(work_, WorkOf(node).value_or(0));
      auto results = program->Run(inputs);
      if (!results) return tl::unexpected(results.error().In(node.Describe()));
      return results;
    }
  }
  RunLimits limits = options_.limits;
  limits.max_work = work_;
  EvalBudget budget = BudgetOf(limits);
  budget.bytes -= std::min(alive_, budget.bytes);
  auto results = EvalNode(node, operands, &budget);
  if (work_ != RunLimits::kAnyWork) work_ = budget.work * RunLimits::kReferenceWork;
  return results;
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
