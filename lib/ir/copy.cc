#include "ir/copy.h"

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

Value* NodeCopier::Of(const Value* v) {
  if (v == nullptr) return nullptr;
  Value*& copy = copies_[v];
  if (copy == nullptr && v->is_constant())
    copy = to_.AddConstant(v->constant(), SharedString(v->name()), v->type().quant);
  return copy;
}

std::vector<Value*> NodeCopier::OperandsOf(const Node& node) {
  std::vector<Value*> operands;
  for (const Value* v : node.inputs()) operands.push_back(Of(v));
  return operands;
}

void NodeCopier::SetOutputs(const Node& node, const Node& copy) {
  for (size_t i = 0; i < node.outputs().size(); ++i) Set(node.output(i), copy.output(i));
}

Node* NodeCopier::Add(const Node& node) {
  Node* const copy = AddCopy(to_, node, OperandsOf(node));
  SetOutputs(node, *copy);
  return copy;
}

Status NodeCopier::AddInferred(const Node& node) {
  Node* const copy = AddOpenCopy(to_, node, OperandsOf(node));
  SetOutputs(node, *copy);
  return InferNode(*copy);
}

Result<std::vector<Value*>> AddCopies(Graph& graph, const Graph& part,
                                      const std::vector<Value*>& inputs) {
  NodeCopier copier(graph);
  for (size_t i = 0; i < inputs.size(); ++i) copier.Set(part.inputs()[i].value, inputs[i]);
  for (const Node& node : part.nodes()) NN_RETURN_IF_ERROR(copier.AddInferred(node));
  std::vector<Value*> outputs;
  for (const Port& port : part.outputs()) outputs.push_back(copier.Of(port.value));
  return outputs;
}

}  // namespace nn
