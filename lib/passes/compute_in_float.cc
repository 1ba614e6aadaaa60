#include <vector>

#include "ir/op_def.h"
#include "ops/math/elementwise.h"
#include "passes/legalize.h"
#include "passes/passes.h"

namespace nn {
namespace {

bool IsReal16(const Value* v) {
  return v != nullptr && !v->type().quantized() &&
         (v->dtype() == DType::kF16 || v->dtype() == DType::kBF16);
}

Result<Value*> CastBefore(Graph& graph, Value* v, DType dtype, Node& before) {
  CastAttrs attrs;
  attrs.to = dtype;
  NN_ASSIGN(Node* const cast, graph.Append("cast", {v}, attrs, 1, &before));
  return cast->output();
}

}  // namespace

Result<bool> ComputeInFloat(Graph& graph, Node& node) {
  if (node.op().converts || node.op().is_check || node.op().is_opaque || !node.regions().empty())
    return false;
  bool any = false;
  std::vector<Value*> inputs;
  for (Value* v : node.inputs()) {
    if (IsReal16(v)) {
      any = true;
      NN_ASSIGN(v, CastBefore(graph, v, DType::kF32, node));
    }
    inputs.push_back(v);
  }
  if (!any) return false;
  Node* const wide =
      graph.AddNode(node.op(), std::move(inputs), node.attrs(), node.outputs().size(), &node);
  wide->set_arithmetic(node.arithmetic());
  wide->set_name(node.name());
  wide->set_source(node.source());
  const bool inferred = InferNode(*wide).has_value();
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Value* y = node.output(i);
    if (inferred && wide->output(i)->dtype() == (IsReal16(y) ? DType::kF32 : y->dtype())) continue;
    graph.Erase(wide);
    return false;
  }
  std::vector<Value*> results;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    Value* y = wide->output(i);
    if (IsReal16(node.output(i))) {
      NN_ASSIGN(y, CastBefore(graph, y, node.output(i)->dtype(), node));
    }
    results.push_back(y);
  }
  graph.Replace(&node, results);
  return true;
}

}  // namespace nn
