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

}  // namespace nn
