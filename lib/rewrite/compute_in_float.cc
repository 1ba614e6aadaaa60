#include "rewrite/compute_in.h"

#include <vector>

#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "passes/core/passes.h"
#include "rewrite/legalize.h"
#include "rewrite/rewrite.h"

namespace nn {
namespace {

bool IsReal16(const Value* v) {
  return !v->type().quantized() && (v->dtype() == DType::kF16 || v->dtype() == DType::kBF16);
}

Result<Value*> CastBefore(Graph& graph, Value* v, DType dtype, Node& before) {
  CastAttrs attrs;
  attrs.to = dtype;
  NN_ASSIGN(Node* const cast, graph.Append("cast", {v}, attrs, 1, &before));
  return cast->output();
}

}  // namespace

Result<Node*> ComputeNodeIn(DType dtype, Graph& graph, Node& node,
                            const std::function<bool(const Value*)>& is_changed,
                            const std::function<bool(const Node&)>& accepts) {
  if (node.op().converts || node.op().is_check || node.op().is_opaque || !node.regions().empty())
    return nullptr;
  std::vector<Value*> inputs;
  std::vector<Node*> casts;
  for (Value* v : node.inputs()) {
    if (v != nullptr && is_changed(v)) {
      NN_ASSIGN(v, CastBefore(graph, v, dtype, node));
      casts.push_back(v->def());
    }
    inputs.push_back(v);
  }
  if (casts.empty()) return nullptr;
  Node* const wide =
      graph.AddNode(node.op(), std::move(inputs), node.attrs(), node.outputs().size(), &node);
  wide->set_arithmetic(node.arithmetic());
  wide->set_name(node.name());
  wide->set_source(node.source());
  bool fits = InferNode(*wide).has_value();
  for (size_t i = 0; fits && i < node.outputs().size(); ++i) {
    const Value* y = node.output(i);
    fits = wide->output(i)->dtype() == (is_changed(y) ? dtype : y->dtype());
  }
  if (!fits || (accepts && !accepts(*wide))) {
    graph.Erase(wide);
    for (Node* const cast : casts) graph.Erase(cast);
    return nullptr;
  }
  std::vector<Value*> results;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    Value* y = wide->output(i);
    if (is_changed(node.output(i))) {
      NN_ASSIGN(y, CastBefore(graph, y, node.output(i)->dtype(), node));
    }
    results.push_back(y);
  }
  graph.Replace(&node, results);
  return wide;
}

Result<bool> ComputeIn(DType dtype, Graph& graph, Node& node, bool (*is_changed)(const Value*),
                       bool (*accepts)(const Node&)) {
  return ComputeNodeIn(dtype, graph, node, is_changed, accepts).map([](const Node* n) {
    return n != nullptr;
  });
}

Result<bool> ComputeInFloat(Graph& graph, Node& node) {
  return ComputeIn(DType::kF32, graph, node, IsReal16, nullptr);
}

}  // namespace nn
