// Dequantize: from a quantized model to the float model that it approximates.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/fake_quantize.h"
#include "passes/core/passes.h"
#include "passes/qdq/qdq.h"
#include "rewrite/legalize.h"

namespace nn {
namespace {

std::string WhyNotReal(const Node& node) {
  return node.op().quant_rule == QuantRule::kStored
             ? "it reads or writes the stored integers of a quantized value, which a float model "
               "does not have"
             : "the element type of a quantized operand has no dequantization";
}

bool ClampsNegatives(const Node& node) {
  return node.op().clamp != nullptr && node.op().clamp(node).min >= 0;
}

// Whether all uses of the result of `quantize` bound it themselves.
bool IsBoundedByUses(const Graph& graph, const Value& quantized) {
  const auto all = [&](const Value& v, const auto& test) {
    return !graph.IsOutput(&v) &&
           std::ranges::all_of(v.uses(), [&](const Use& use) { return test(*use.node); });
  };
  return all(quantized, [&](const Node& node) {
    return node.Is<DequantizeAttrs>() && all(*node.output(), ClampsNegatives);
  });
}

// Whether the saturation of `quantize` is a relu: quantizers fold an activation into the operator
// before it, if the integers represent no negative numbers.
bool IsRelu(const Graph& graph, const Node& quantize) {
  const Node* producer = quantize.input(0)->def();
  const Type& type = quantize.output()->type();
  if (producer == nullptr || ClampsNegatives(*producer) || !IsInteger(type.dtype)) return false;
  const Category category = producer->op().category;
  if (category != Category::kConvolution && category != Category::kMatmul &&
      category != Category::kNormalization && category != Category::kArithmetic)
    return false;
  for (size_t i = 0; i < type.quant->scales.size(); ++i)
    if (type.quant->zero_point(i) != MinInteger(type.dtype)) return false;
  return !IsBoundedByUses(graph, *quantize.output());
}

// Replaces the result of the node by its operand, converted to `to`.
Status ReplaceByOperand(Graph& graph, Node& node, DType to) {
  Value* x = node.input(0);
  if (x->dtype() != to) {
    CastAttrs attrs;
    attrs.to = to;
    NN_ASSIGN(Node* const cast, graph.Append("cast", {x}, attrs, 1, &node));
    x = cast->output();
  }
  graph.Replace(&node, x);
  return {};
}

Status RemoveNode(Graph& graph, Node& node) {
  if (node.Is<QuantizeAttrs>()) {
    if (IsRelu(graph, node)) {
      NN_ASSIGN(Node* const relu, graph.Append("relu", {node.input(0)}, {}, 1, &node));
      graph.SetInput(&node, 0, relu->output());
    }
    return ReplaceByOperand(graph, node, DType::kF32);
  }
  const Value* x = node.input(0);
  // An operand that was quantized is f32 by now, also a constant of f32 that a quantize took.
  if (x->dtype() == DType::kF32 && !x->type().quantized())
    return ReplaceByOperand(graph, node, node.attrs<DequantizeAttrs>().to);
  if (x->type().quantized()) NN_RETURN_IF_ERROR(DequantizeConstant(graph, node));
  return {};
}

// A quantized output of the graph may be a constant.
Status DequantizeOutputs(Graph& graph) {
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Value* const v = graph.outputs()[i].value;
    if (!v->is_constant() || !v->type().quantized()) continue;
    NN_ASSIGN(Node* const node, graph.Append("dequantize", {v}, DequantizeAttrs{}));
    graph.set_output(i, node->output());
    NN_RETURN_IF_ERROR(DequantizeConstant(graph, *node));
  }
  return {};
}

// The type of the numbers that a quantized value represents.
void MakeReal(Value* v) {
  Type type = v->type();
  if (!type.quantized()) return;
  type.dtype = DType::kF32;
  type.quant = nullptr;
  v->set_type(std::move(type));
}

// Float operators between quantize and dequantize, also in regions.
Status UnfuseWithin(Graph& graph) {
  NN_RETURN_IF_ERROR(IntegerProductsAsReals(graph));
  NN_RETURN_IF_ERROR(UnfuseQdq(graph, InnerRounding::kDropped));
  return ForEachRegion(graph, UnfuseWithin);
}

void AddRefused(const Graph& graph, const std::string& where, std::vector<UnsupportedNode>& out) {
  for (const Node& node : graph.nodes()) {
    for (const auto& region : node.regions())
      AddRefused(*region, " in " + node.Describe() + where, out);
    if (node.regions().empty() && OnQuantizedTypes(node))
      out.push_back({node.Describe() + where, std::string(node.op_name()),
                     std::string(node.source().op.view()), WhyNotReal(node)});
  }
}

Status DequantizeWithin(Graph& graph);

// The values of regions are real, and so are those around them.
Status DequantizeRegions(Graph& graph, Node& node) {
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    Value* const v = node.input(i);
    if (v == nullptr || !v->is_constant() || !v->type().quantized()) continue;
    NN_ASSIGN(Node* const real, graph.Append("dequantize", {v}, DequantizeAttrs{}, 1, &node));
    graph.SetInput(&node, i, real->output());
    NN_RETURN_IF_ERROR(DequantizeConstant(graph, *real));
  }
  NN_RETURN_IF_ERROR(ForEachRegion(node, DequantizeWithin));
  std::ranges::for_each(node.outputs(), MakeReal);
  return {};
}

Status DequantizeWithin(Graph& graph) {
  for (const Port& p : graph.inputs()) MakeReal(p.value);
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = *it++;  // may be erased
    if (!node.regions().empty()) NN_RETURN_IF_ERROR(DequantizeRegions(graph, node));
    if (node.Is<QuantizeAttrs>() || node.Is<DequantizeAttrs>()) {
      NN_RETURN_IF_ERROR(RemoveNode(graph, node));
    } else if (node.Is<DynamicFakeQuantizeAttrs>()) {
      graph.Replace(&node, node.input(0));
    } else if (node.attrs().Get("state_rounding")) {
      NN_ASSIGN(Attrs attrs, node.attrs().With("state_rounding", EnumValue{"none"}));
      node.set_attrs(std::move(attrs));
    }
  }
  return DequantizeOutputs(graph);
}

}  // namespace

Result<std::vector<UnsupportedNode>> Dequantize(Graph& graph) {
  NN_RETURN_IF_ERROR(UnfuseWithin(graph));
  NN_RETURN_IF_ERROR(RemoveDeadCode(graph));
  std::vector<UnsupportedNode> refused;
  AddRefused(graph, "", refused);
  if (!refused.empty()) return refused;
  NN_RETURN_IF_ERROR(DequantizeWithin(graph));
  NN_RETURN_IF_ERROR(RemoveDeadCode(graph));
  return refused;
}

bool IsQuantized(const Graph& graph) {
  return std::ranges::any_of(graph.values(), [](const Value& v) { return v.type().quantized(); }) ||
         AnyRegion(graph, IsQuantized);
}

}  // namespace nn
