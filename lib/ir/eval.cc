#include "ir/eval.h"

#include "ir/op_def.h"

namespace nn {
namespace {

// Output types for the inputs at hand: inference on a copy of the node whose inputs are constants.
Result<std::vector<Type>> TypesFor(const Node& node, const std::vector<const Tensor*>& inputs) {
  Graph scratch;
  std::vector<Value*> values;
  for (size_t i = 0; i < inputs.size(); ++i)
    values.push_back(inputs[i] == nullptr
                         ? nullptr
                         : scratch.AddConstant(*inputs[i], {}, node.input(i)->type().quant));
  Node* copy = scratch.AddNode(node.op(), std::move(values), node.attrs(), node.outputs().size());
  copy->set_name(node.name());
  copy->set_source(node.source());
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    // Element type and quantisation may have been declared rather than inferred.
    Type declared = node.output(i)->type();
    declared.dims.reset();
    copy->output(i)->set_type(declared);
  }
  NN_RETURN_IF_ERROR(InferNode(*copy));
  std::vector<Type> types;
  for (const Value* v : copy->outputs()) types.push_back(v->type());
  return types;
}

}  // namespace

Result<std::vector<Tensor>> EvalNode(const Node& node, const std::vector<const Tensor*>& inputs) {
  if (node.op().eval == nullptr)
    return UnsupportedError("{}: {} has no evaluation", node.Describe(), node.op_name());
  std::vector<Tensor> aligned;
  aligned.reserve(inputs.size());
  std::vector<const Tensor*> pointers;
  std::vector<Type> input_types;
  // Whether what inference checked were shapes with unknowns.
  bool open = false;
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
    open |= !node.input(i)->type().const_dims();
  }
  std::vector<Type> output_types;
  for (const Value* v : node.outputs()) {
    output_types.push_back(v->type());
    open |= !v->type().const_dims();
  }
  if (open) {
    NN_ASSIGN(output_types, TypesFor(node, pointers));
  }
  EvalContext context(node, std::move(pointers), std::move(input_types), std::move(output_types));
  if (auto s = node.op().eval(context); !s) return tl::unexpected(s.error().In(node.Describe()));
  std::vector<Tensor> outputs = context.TakeOutputs();
  // Whoever reads an output relies on its type, which a file may have declared.
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Type actual(outputs[i].dtype(), ToDims(outputs[i].dims()));
    if (!Compatible(node.output(i)->type(), actual))
      return ModelError("{}: output {} is declared {} but is {}", node.Describe(), i,
                        node.output(i)->type().ToString(), actual.ToString());
  }
  return outputs;
}

}  // namespace nn
