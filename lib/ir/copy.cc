#include "ir/copy.h"

#include <unordered_map>
#include <utility>

#include "ir/op_def.h"

namespace nn {

Node* AddCopy(Graph& graph, const Node& node, std::vector<Value*> inputs) {
  Node* const copy =
      graph.AddNode(node.op(), std::move(inputs), node.attrs(), node.outputs().size());
  copy->set_arithmetic(node.arithmetic());
  copy->set_name(SharedString(node.name()));
  copy->set_source(node.source());
  for (const auto& region : node.regions()) copy->AddRegion(region->Clone());
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    copy->output(i)->set_type(node.output(i)->type());
    copy->output(i)->set_name(SharedString(node.output(i)->name()));
  }
  return copy;
}

Node* AddOpenCopy(Graph& graph, const Node& node, std::vector<Value*> inputs) {
  Node* const copy = AddCopy(graph, node, std::move(inputs));
  for (Value* v : copy->outputs()) {
    Type open;
    open.dtype = v->dtype();
    open.quant = v->type().quant;
    v->set_type(std::move(open));
  }
  return copy;
}

Result<std::vector<Value*>> AddCopies(Graph& graph, const Graph& part,
                                      const std::vector<Value*>& inputs) {
  std::unordered_map<const Value*, Value*> copies;
  for (size_t i = 0; i < inputs.size(); ++i) copies[part.inputs()[i].value] = inputs[i];
  const auto copy_of = [&](const Value* v) -> Value* {
    if (v == nullptr) return nullptr;
    Value*& copy = copies[v];
    if (copy == nullptr && v->is_constant())
      copy = graph.AddConstant(v->constant(), SharedString(v->name()), v->type().quant);
    return copy;
  };
  for (const Node& node : part.nodes()) {
    std::vector<Value*> operands;
    for (const Value* v : node.inputs()) operands.push_back(copy_of(v));
    Node* const copy = AddOpenCopy(graph, node, std::move(operands));
    for (size_t i = 0; i < node.outputs().size(); ++i) copies[node.output(i)] = copy->output(i);
    NN_RETURN_IF_ERROR(InferNode(*copy));
  }
  std::vector<Value*> outputs;
  for (const Port& port : part.outputs()) outputs.push_back(copy_of(port.value));
  return outputs;
}

}  // namespace nn
