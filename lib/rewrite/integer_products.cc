#include <algorithm>
#include <vector>

#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv.h"
#include "ops/quant/quantized.h"
#include "passes/qdq/qdq.h"
#include "rewrite/expand.h"
#include "rewrite/integer_products.h"

namespace nn {
namespace {

// Whether the input `zero` of the node holds the zero points of the type of input `operand`.
bool HasZeroPointsOf(const Node& node, size_t operand, size_t zero) {
  const Quant& q = *node.input(operand)->type().quant;
  const Value* v = node.input(zero);
  if (v != nullptr && !v->is_constant()) return false;
  const std::vector<int64_t> zeros =
      v == nullptr ? std::vector<int64_t>{0} : v->constant().ToInts();
  if (zeros.size() != 1 && zeros.size() != q.scales.size()) return false;
  for (size_t i = 0; i < q.scales.size(); ++i)
    if (zeros[zeros.size() == 1 ? 0 : i] != q.zero_point(i)) return false;
  return true;
}

bool IsRealProduct(const Graph& graph, const Node& node) {
  const Value* y = node.output();
  const Type& x = node.input(0)->type();
  const Type& w = node.input(1)->type();
  const Value* bias = node.input(4);
  if (!x.quantized() || x.quant->per_axis() || !w.quantized() || !y->type().quantized() ||
      (bias != nullptr && !bias->is_constant()) || !HasZeroPointsOf(node, 0, 2) ||
      !HasZeroPointsOf(node, 1, 3) || !SameButForRounding(*y->type().quant, *ProductQuant(x, w)))
    return false;
  return !graph.IsOutput(y) && std::ranges::all_of(y->uses(), [](const Use& use) {
    return use.node->Is<DequantizeAttrs>() && use.node->output()->dtype() == DType::kF32;
  });
}

Status AsReal(Graph& graph, Node& node) {
  Expansion e(graph, node);
  std::vector<Value*> inputs;
  for (const size_t i : {0, 1}) {
    NN_ASSIGN(Value* const real, e.Add("dequantize", {node.input(i)}, DequantizeAttrs{}));
    inputs.push_back(real);
  }
  if (const Value* bias = node.input(4); bias != nullptr) {
    Value* const q = graph.AddConstant(bias->constant(), bias->name(),
                                       ProductQuant(node.input(0)->type(), node.input(1)->type()));
    NN_ASSIGN(Value* const real, e.Add("dequantize", {q}, DequantizeAttrs{}));
    inputs.push_back(real);
  }
  const bool is_conv = node.Is<ConvAttrs>();
  NN_ASSIGN(Node* const real, e.AddNode(is_conv ? "conv" : "matmul", std::move(inputs),
                                        is_conv ? node.attrs() : Attrs(MatmulAttrs{}), 1));
  real->set_name(node.name());
  const std::vector<Use> uses(node.output()->uses().begin(), node.output()->uses().end());
  for (const Use& use : uses) graph.Replace(use.node, real->output());
  graph.Erase(&node);
  return {};
}

// Whether the product has TensorFlow Lite's types, and its result is only quantized.
bool IsFusable(const Graph& graph, const Node& node) {
  const Type& x = node.input(0)->type();
  const Type& w = node.input(1)->type();
  const auto& zeros = w.quant->zero_points;
  if (x.dtype != w.dtype) return false;
  if (x.dtype == DType::kU8 ? w.quant->per_axis()
                            : std::ranges::any_of(zeros, [](int64_t z) { return z != 0; }))
    return false;
  if (node.output()->uses().size() != 1) return false;
  const Value* real = node.output()->uses()[0].node->output();
  if (real->uses().size() != 1 || graph.IsOutput(real)) return false;
  const Node& user = *real->uses()[0].node;
  const Type& y = user.output()->type();
  return user.Is<QuantizeAttrs>() && y.quantized() && !y.quant->per_axis() && y.dtype == x.dtype;
}

Status AsReals(Graph& graph, bool (*is_wanted)(const Graph&, const Node&)) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes())
    if (IsIntegerProduct(node) && IsRealProduct(graph, node) && is_wanted(graph, node))
      nodes.push_back(&node);
  for (Node* node : nodes) NN_RETURN_IF_ERROR(AsReal(graph, *node));
  return {};
}

}  // namespace

bool IsIntegerProduct(const Node& node) {
  return node.Is("matmul_integer") || node.Is("conv_integer");
}

Status IntegerProductsAsReals(Graph& graph) {
  return AsReals(graph, [](const Graph&, const Node&) { return true; });
}

Status FuseQuantized(Graph& graph) {
  NN_RETURN_IF_ERROR(AsReals(graph, IsFusable));
  return FuseQdq(graph);
}

}  // namespace nn
