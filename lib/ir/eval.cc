#include "ir/eval.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "ir/copy.h"
#include "ir/op_def.h"
#include "ir/value_table.h"
#include "nnsuite/options.h"

namespace nn {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

// Element counts of several values.
struct ElementCount {
  uint64_t known = 0;    // elements of values with known shapes
  bool complete = true;  // whether all shapes are known

  void Add(const Value& v) {
    const auto dims = v.type().const_dims();
    complete = complete && dims;
    if (!dims) return;
    const auto n = CheckedElements(*dims);
    known = n ? CheckedAdd(known, static_cast<uint64_t>(*n)).value_or(kMax) : kMax;
  }
};

// The memory of an element, rounded up.
uint64_t ElementBytes(DType dtype) {
  if (dtype == DType::kString) return sizeof(std::string);
  return static_cast<uint64_t>(DTypeBits(dtype) + 7) / 8;
}

uint64_t KnownElements(std::span<Value* const> values) {
  ElementCount count;
  for (const Value* v : values)
    if (v != nullptr) count.Add(*v);
  return count.known;
}

// Checks the node against the budget. If output sizes depend on values, each input element counts
// as one operation.
Status TakeFrom(EvalBudget& budget, const Node& node) {
  uint64_t bytes = 0;
  bool exact = true;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    bytes = CheckedAdd(bytes, MostBytesOf(node, i)).value_or(kMax);
    exact = exact && node.output(i)->type().const_dims();
  }
  if (bytes > budget.bytes)
    return LimitError("{}: its results need {}{}, but only {} of memory remain (see max-memory)",
                      node.Describe(), exact ? "" : "up to ", HumanBytes(bytes),
                      HumanBytes(budget.bytes));
  if (budget.work == kMax) return {};
  const uint64_t work = WorkOf(node).value_or(KnownElements(node.inputs()));
  if (work > budget.work)
    return LimitError("{} needs {:.3g} operations, but only {:.3g} remain (see max-work)",
                      node.Describe(),
                      static_cast<double>(work) * nnsuite::RunLimits::kReferenceWork,
                      static_cast<double>(budget.work) * nnsuite::RunLimits::kReferenceWork);
  budget.work -= work;
  return {};
}

// Infers output types for the given inputs on a copy of the node whose inputs are constants,
// without using declared or previously inferred shapes. kModel if one of these contradicts the
// result.
Result<std::vector<Type>> TypesFor(const Node& node, const std::vector<const Tensor*>& inputs,
                                   EvalBudget* budget) {
  Graph scratch;
  std::vector<Value*> values;
  for (size_t i = 0; i < inputs.size(); ++i)
    values.push_back(inputs[i] == nullptr
                         ? nullptr
                         : scratch.AddConstant(*inputs[i], {}, node.input(i)->type().quant));
  Node* const copy = AddOpenCopy(scratch, node, std::move(values));
  NN_RETURN_IF_ERROR(InferNode(*copy));
  if (const auto why = WhyNotElements(*copy))
    return UnsupportedError("{}: {}", node.Describe(), *why);
  if (budget != nullptr) NN_RETURN_IF_ERROR(TakeFrom(*budget, *copy));
  std::vector<Type> types;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    types.push_back(copy->output(i)->type());
    if (!Compatible(node.output(i)->type(), types[i]))
      return ContradictionError(node, i, node.output(i)->type(), types[i]);
  }
  return types;
}

// Evaluates the decomposition of a node node by node.
Result<std::vector<Tensor>> EvalComposition(const Node& node,
                                            const std::vector<const Tensor*>& inputs,
                                            EvalBudget* budget) {
  Graph scratch;
  std::vector<Value*> values;
  values.reserve(inputs.size());
  for (const Tensor* t : inputs) values.push_back(t == nullptr ? nullptr : scratch.AddConstant(*t));
  NN_ASSIGN(Node* const copy,
            scratch.Append(node.op_name(), std::move(values), node.attrs(), node.outputs().size()));
  for (Value* v : copy->outputs()) scratch.AddOutput("", v);
  NN_ASSIGN(const bool decomposed, node.op().decompose(scratch, *copy));
  if (!decomposed)
    return UnsupportedError("{}: {} cannot be decomposed", node.Describe(), node.op_name());
  EvalBudget left = budget == nullptr ? EvalBudget() : *budget;
  left.runner = nullptr;  // which knows nodes that stay
  for (Node& part : scratch.nodes()) {
    std::vector<const Tensor*> operands;
    for (const Value* v : part.inputs())
      operands.push_back(v == nullptr ? nullptr : &v->constant());
    auto results = EvalNode(part, operands, &left);
    if (!results) return tl::unexpected(results.error().In(node.Describe()));
    // The results stay until the end.
    for (size_t i = 0; i < results->size(); ++i) {
      left.bytes -= std::min<uint64_t>(left.bytes, (*results)[i].memory_size());
      scratch.MakeConstant(part.output(i), std::move((*results)[i]));
    }
  }
  if (budget != nullptr) budget->work = left.work;
  std::vector<Tensor> outputs;
  for (const Port& p : scratch.outputs()) outputs.push_back(p.value->constant());
  return outputs;
}

}  // namespace

Status EvalBudget::TakeIteration() {
  if (iterations == 0) return LimitError("the loops of the model exceed the limit (see max-steps)");
  --iterations;
  return {};
}

void EvalBudget::Spend(const EvalBudget& left) {
  work = left.work;
  iterations = left.iterations;
}

uint64_t BytesOf(const Type& type) {
  const auto dims = type.const_dims();
  if (!dims) return 0;
  const auto elements = CheckedElements(*dims);
  constexpr int64_t kMany = std::numeric_limits<int64_t>::max() / 16;
  if (!elements || *elements > kMany) return kMax;
  if (type.dtype == DType::kString)
    return CheckedMul(static_cast<uint64_t>(*elements), ElementBytes(type.dtype)).value_or(kMax);
  return ByteSize(type.dtype, *elements);
}

uint64_t MostBytesOf(const Node& node, size_t i) {
  const Type& type = node.output(i)->type();
  if (type.const_dims()) return BytesOf(type);
  uint64_t rank = 1;
  for (const Value* v : node.inputs())
    if (v != nullptr && v->type().ranked())
      rank = std::max(rank, static_cast<uint64_t>(v->type().rank()));
  const auto elements = CheckedMul(KnownElements(node.inputs()), rank);
  return elements ? CheckedMul(*elements, ElementBytes(type.dtype)).value_or(kMax) : kMax;
}

std::optional<uint64_t> WorkOf(const Node& node) {
  ElementCount count;
  for (const auto& values : {node.inputs(), node.outputs()})
    for (const Value* v : values)
      if (v != nullptr && !v->is_constant()) count.Add(*v);
  if (!count.complete) return std::nullopt;
  if (node.op().multiply_adds == nullptr) return count.known;
  const auto products = node.op().multiply_adds(node);
  return products ? std::max(count.known, static_cast<uint64_t>(*products)) : kMax;
}

Result<std::vector<Tensor>> EvalNode(const Node& node, const std::vector<const Tensor*>& inputs,
                                     EvalBudget* budget) {
  const bool is_composition = node.op().is_composition();
  if (node.op().eval == nullptr && !is_composition)
    return UnsupportedError("{}: {} has no reference evaluation", node.Describe(), node.op_name());
  std::vector<Tensor> aligned;
  aligned.reserve(inputs.size());
  std::vector<const Tensor*> pointers;
  std::vector<Type> input_types;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) {
      pointers.push_back(nullptr);
      input_types.emplace_back();
      continue;
    }
    aligned.push_back(inputs[i]->Aligned());
    pointers.push_back(&aligned.back());
    input_types.emplace_back(inputs[i]->dtype(), ToDims(inputs[i]->dims()),
                             node.input(i)->type().quant);
  }
  NN_ASSIGN(std::vector<Type> output_types,
            TypesFor(node, pointers, is_composition ? nullptr : budget));
  if (is_composition) return EvalComposition(node, pointers, budget);
  EvalBudget unlimited;
  EvalContext context(node, std::move(pointers), std::move(input_types), std::move(output_types),
                      budget != nullptr ? *budget : unlimited);
  if (auto s = node.op().eval(context); !s) return tl::unexpected(s.error().In(node.Describe()));
  std::vector<Tensor> outputs = context.TakeOutputs();
  // Outputs whose shape only the evaluation determines are checked here.
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Type actual(outputs[i].dtype(), ToDims(outputs[i].dims()));
    if (!Compatible(node.output(i)->type(), actual))
      return ContradictionError(node, i, node.output(i)->type(), actual);
  }
  return outputs;
}

Result<std::vector<Tensor>> EvalGraph(const Graph& graph, std::span<const Tensor* const> inputs,
                                      EvalBudget& budget, bool is_region) {
  if (is_region && budget.runner != nullptr)
    if (auto ran = budget.runner->RunRegion(graph, inputs, budget)) return *std::move(ran);
  std::unordered_map<const Value*, Tensor> tensors;
  ValueTable<size_t> uses(graph);
  for (const Value& v : graph.values()) uses[&v] = v.uses().size() + (graph.IsOutput(&v) ? 1 : 0);
  for (size_t i = 0; i < inputs.size(); ++i) tensors[graph.inputs()[i].value] = *inputs[i];
  const uint64_t bytes = budget.bytes;
  uint64_t alive = 0;
  for (const Node& n : graph.nodes()) {
    std::vector<const Tensor*> operands;
    for (const Value* v : n.inputs())
      operands.push_back(v == nullptr       ? nullptr
                         : v->is_constant() ? &v->constant()
                                            : &tensors.at(v));
    EvalBudget left = budget;
    left.bytes = bytes - std::min(alive, bytes);
    auto ran = left.runner != nullptr ? left.runner->RunNode(n, operands, left) : std::nullopt;
    if (!ran) ran = EvalNode(n, operands, &left);
    if (!*ran) return tl::unexpected(ran->error());
    std::vector<Tensor> results = *std::move(*ran);
    if (!is_region) left.iterations = budget.iterations;
    budget.Spend(left);
    for (size_t i = 0; i < results.size(); ++i) {
      alive += results[i].memory_size();
      tensors[n.output(i)] = std::move(results[i]);
    }
    for (const Value* v : n.inputs()) {
      if (v == nullptr || --uses[v] != 0) continue;
      if (const auto it = tensors.find(v); it != tensors.end()) {
        if (!v->is_input()) alive -= it->second.memory_size();
        tensors.erase(it);
      }
    }
  }
  std::vector<Tensor> outputs;
  for (const Port& p : graph.outputs())
    outputs.push_back(p.value->is_constant() ? p.value->constant() : tensors.at(p.value));
  return outputs;
}

}  // namespace nn
