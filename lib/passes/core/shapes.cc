// Declared shapes that inference does not confirm.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/array/assume_shape.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

// Whether the declared dims have constants where the inferred ones do not.
bool SaysMore(const TypeDims& declared, const TypeDims& found) {
  if (!declared) return false;
  for (size_t i = 0; i < declared->size(); ++i)
    if ((*declared)[i].is_const() && !(found && (*found)[i].is_const())) return true;
  return false;
}

// Re-infers a node's types without its declared dims, and returns the declared types. Unsupported
// nodes keep the declared types, which are the only ones they have.
Result<std::vector<Type>> InferAnew(Node& node) {
  std::vector<Type> declared;
  for (Value* v : node.outputs()) {
    declared.push_back(v->type());
    if (node.op().is_opaque) continue;
    Type type = v->type();
    type.dims.reset();
    v->set_type(std::move(type));
  }
  NN_RETURN_IF_ERROR(InferNode(node));
  for (size_t i = 0; i < declared.size(); ++i)
    if (!Compatible(declared[i], node.output(i)->type()))
      return ContradictionError(node, i, declared[i], node.output(i)->type());
  return declared;
}

// Inserts a check of the declared dims between a value and its users.
Status InsertCheck(Graph& graph, Value* value, const Dims& declared) {
  AssumeShapeAttrs attrs;
  for (const Dim& d : declared)
    attrs.dims.push_back(d.is_const() ? d.value() : AssumeShapeAttrs::kAnySize);
  NN_ASSIGN(Node* const check, graph.Append("assume_shape", {value}, attrs, 1, graph.After(value)));
  check->set_name(value->name());
  check->set_source(value->def()->source());
  check->output()->set_name(value->name());
  graph.ReplaceUses(value, check->output());
  graph.SetInput(check, 0, value);
  return {};
}

}  // namespace

Status ForgetDeclaredShapes(Graph& graph) {
  for (Node& node : graph.nodes()) NN_RETURN_IF_ERROR(InferAnew(node));
  return {};
}

Status CheckDeclaredShapes(Graph& graph) {
  for (Node& node : graph.nodes()) {
    NN_ASSIGN(const std::vector<Type> declared, InferAnew(node));
    for (size_t i = 0; i < declared.size(); ++i) {
      Value* v = node.output(i);
      if (SaysMore(declared[i].dims, v->type().dims))
        NN_RETURN_IF_ERROR(InsertCheck(graph, v, *declared[i].dims));
    }
  }
  return {};
}

void AdoptCheckedShapes(Graph& graph) {
  for (Node& node : graph.nodes()) {
    if (!node.Is<AssumeShapeAttrs>()) continue;
    Value* v = node.input(0);
    if (v->def() != nullptr && IsChecked(*v->def()))
      v->set_type(Refine(v->type(), node.output()->type()));
  }
}

bool IsChecked(const Node& node) {
  return std::any_of(node.outputs().begin(), node.outputs().end(), [](const Value* v) {
    return v->uses().size() == 1 && v->uses()[0].node->Is<AssumeShapeAttrs>();
  });
}

}  // namespace nn
