#include "ir/eval.h"

#include <span>

#include "base/checked_math.h"
#include "base/text.h"
#include "ir/op_def.h"

namespace nn {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

// The elements of values whose shapes are known.
uint64_t ElementsOf(std::span<Value* const> values) {
  uint64_t elements = 0;
  for (const Value* v : values) {
    const auto dims = v == nullptr ? std::nullopt : v->type().const_dims();
    if (!dims) continue;
    const auto n = CheckedElements(*dims);
    elements = n ? CheckedAdd(elements, static_cast<uint64_t>(*n)).value_or(kMost) : kMost;
  }
  return elements;
}

// Where the values decide how large the results are, each element of the inputs is one operation.
Status TakeFrom(EvalBudget& budget, const Node& node) {
  uint64_t bytes = 0;
  for (const Value* v : node.outputs())
    bytes = CheckedAdd(bytes, BytesOf(v->type())).value_or(kMost);
  if (bytes > budget.bytes)
    return LimitError("{}: its results take {}, {} of memory may still be used (see max-memory)",
                      node.Describe(), HumanBytes(bytes), HumanBytes(budget.bytes));
  if (budget.work == kMost) return {};
  const uint64_t work = WorkOf(node).value_or(ElementsOf(node.inputs()));
  if (work > budget.work)
    return LimitError("{} takes {:.3g} operations, {:.3g} may still be done (see max-work)",
                      node.Describe(), static_cast<double>(work), static_cast<double>(budget.work));
  budget.work -= work;
  return {};
}

// Output types for the inputs at hand: inference on a copy of the node whose inputs are constants.
// No shape that was declared or inferred before takes part. kModel if one contradicts them.
Result<std::vector<Type>> TypesFor(const Node& node, const std::vector<const Tensor*>& inputs,
                                   EvalBudget* budget) {
  Graph scratch;
  std::vector<Value*> values;
  for (size_t i = 0; i < inputs.size(); ++i)
    values.push_back(inputs[i] == nullptr
                         ? nullptr
                         : scratch.AddConstant(*inputs[i], {}, node.input(i)->type().quant));
  Node* copy = scratch.AddNode(node.op(), std::move(values), node.attrs(), node.outputs().size());
  copy->set_arithmetic(node.arithmetic());
  copy->set_name(node.name());
  copy->set_source(node.source());
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    // Element type and quantisation may have been declared rather than inferred.
    Type declared = node.output(i)->type();
    declared.dims.reset();
    copy->output(i)->set_type(declared);
  }
  NN_RETURN_IF_ERROR(InferNode(*copy));
  if (budget != nullptr) NN_RETURN_IF_ERROR(TakeFrom(*budget, *copy));
  std::vector<Type> types;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    types.push_back(copy->output(i)->type());
    if (!Compatible(node.output(i)->type(), types[i]))
      return ContradictionError(node, i, node.output(i)->type(), types[i]);
  }
  return types;
}

}  // namespace

uint64_t BytesOf(const Type& type) {
  const auto dims = type.const_dims();
  if (!dims) return 0;
  const auto elements = CheckedElements(*dims);
  constexpr int64_t kMany = std::numeric_limits<int64_t>::max() / 16;
  return elements && *elements <= kMany ? ByteSize(type.dtype, *elements) : kMost;
}

std::optional<uint64_t> WorkOf(const Node& node) {
  uint64_t elements = 0;
  for (const auto& values : {node.inputs(), node.outputs()})
    for (const Value* v : values) {
      if (v == nullptr || v->is_constant()) continue;
      const auto dims = v->type().const_dims();
      if (!dims) return std::nullopt;
      const auto n = CheckedElements(*dims);
      const auto sum = n ? CheckedAdd(elements, static_cast<uint64_t>(*n)) : std::nullopt;
      if (!sum) return kMost;
      elements = *sum;
    }
  if (node.op().multiply_adds == nullptr) return elements;
  const auto products = node.op().multiply_adds(node);
  return products ? std::max(elements, static_cast<uint64_t>(*products)) : kMost;
}

Result<std::vector<Tensor>> EvalNode(const Node& node, const std::vector<const Tensor*>& inputs,
                                     EvalBudget* budget) {
  if (node.op().eval == nullptr)
    return UnsupportedError("{}: {} has no evaluation", node.Describe(), node.op_name());
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
  NN_ASSIGN(std::vector<Type> output_types, TypesFor(node, pointers, budget));
  EvalContext context(node, std::move(pointers), std::move(input_types), std::move(output_types));
  if (auto s = node.op().eval(context); !s) return tl::unexpected(s.error().In(node.Describe()));
  std::vector<Tensor> outputs = context.TakeOutputs();
  // Results whose size only the evaluation tells are compared behind it.
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Type actual(outputs[i].dtype(), ToDims(outputs[i].dims()));
    if (!Compatible(node.output(i)->type(), actual))
      return ContradictionError(node, i, node.output(i)->type(), actual);
  }
  return outputs;
}

}  // namespace nn
