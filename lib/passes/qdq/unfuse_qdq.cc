#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/block_weights.h"
#include "ops/quant/quantized.h"
#include "passes/core/passes.h"
#include "passes/qdq/qdq.h"

namespace nn {
namespace {

bool Quantized(const Value* v) {
  return v != nullptr && v->type().quantized();
}

class Unfuser {
 public:
  Unfuser(Graph& graph, InnerRounding inner) : graph_(graph), inner_(inner) {}

  Status Run() {
    for (auto it = graph_.nodes().begin(); it != graph_.nodes().end();) {
      Node& node = *it++;  // inserted nodes need no visit
      if (!OnQuantizedTypes(node) || node.op().quant_rule == QuantRule::kStored ||
          !node.regions().empty())
        continue;
      if (inner_ == InnerRounding::kKept && node.op().decomposes_quantized) {
        // Without that rounding it would be another arithmetic: the target reports the node.
        NN_RETURN_IF_ERROR(node.op().decompose(graph_, node));
        continue;
      }
      if (!ScaleBias(node)) continue;
      NN_RETURN_IF_ERROR(Unfuse(node));
    }
    return {};
  }

 private:
  // Gives an i32 bias the scale of the product, which kernels assume regardless of its declared
  // scale. False if not possible.
  bool ScaleBias(Node& node) {
    if (node.op().quant_rule != QuantRule::kProduct) return true;
    Value* bias = node.input(2);
    if (bias == nullptr) return true;
    if (!Quantized(node.input(0)) || !Quantized(node.input(1))) return Quantized(bias);
    auto q = ProductQuant(node.input(0)->type(), node.input(1)->type());
    if (Quantized(bias) && SameButForRounding(*bias->type().quant, *q)) return true;
    if (!bias->is_constant()) return false;
    graph_.SetInput(&node, 2, graph_.AddConstant(bias->constant(), bias->name(), std::move(q)));
    return true;
  }

  // The dequantized value of v.
  Result<Value*> Dequantized(Value* v) {
    Value*& reals = reals_[v];
    if (reals != nullptr) return reals;
    Node* before = v->is_constant() ? &graph_.nodes().front() : graph_.After(v);
    NN_ASSIGN(Node* const node, graph_.Append("dequantize", {v}, DequantizeAttrs{}, 1, before));
    reals = node->output();
    return reals;
  }

  Status Unfuse(Node& node) {
    std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
    for (Value*& v : inputs) {
      if (!Quantized(v)) continue;
      const auto reals = Dequantized(v);
      // The target reports nodes that stay.
      if (!reals && reals.error().code() == ErrorCode::kUnsupported) return {};
      if (!reals) return tl::unexpected(reals.error().In(node.Describe()));
      v = *reals;
    }
    graph_.SetInputs(&node, std::move(inputs));
    // Without an arithmetic, integers are only moved, and any rounding restores them.
    const Rounding rounding =
        node.arithmetic() == Arithmetic::kDefault ? Rounding::kHalfEven : Rounding::kHalfAway;
    if (!node.op().has_real_arithmetic) node.set_arithmetic(Arithmetic::kDefault);
    if (node.Is<QuantizeAttrs>()) return InferNode(node);  // requantization
    for (Value* v : node.outputs())
      if (Quantized(v)) NN_RETURN_IF_ERROR(QuantizeOutput(v, rounding));
    return InferNode(node);
  }

  // Makes v a float and inserts a quantize that yields the original type.
  Status QuantizeOutput(Value* v, Rounding rounding) {
    const Type type = v->type();
    const std::vector<Use> uses(v->uses().begin(), v->uses().end());
    std::vector<size_t> ports;
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      if (graph_.outputs()[i].value == v) ports.push_back(i);
    Type real = type;
    real.dtype = DType::kF32;
    real.quant = nullptr;
    v->set_type(std::move(real));
    const OpDef& op = *Ops().Find("quantize");
    Node* quantize = graph_.AddNode(op, {v}, QuantizeAttrs{rounding, true}, 1, graph_.After(v));
    Value* q = quantize->output();
    q->set_type(type);
    q->set_name(v->name());
    v->set_name({});
    for (const Use& use : uses) graph_.SetInput(use.node, static_cast<size_t>(use.index), q);
    for (const size_t i : ports) graph_.set_output(i, q);
    return InferNode(*quantize);
  }

  Graph& graph_;
  const InnerRounding inner_;
  std::unordered_map<const Value*, Value*> reals_;
};

}  // namespace

bool OnQuantizedTypes(const Node& node) {
  if (node.Is<DequantizeAttrs>()) return false;
  if (node.Is<QuantizeAttrs>()) return Quantized(node.input(0));
  return std::ranges::any_of(node.inputs(), Quantized) ||
         std::ranges::any_of(node.outputs(), Quantized);
}

Status UnfuseQdq(Graph& graph, InnerRounding inner) {
  return Unfuser(graph, inner).Run();
}

Result<bool> DequantizeConstant(Graph& graph, Node& node) {
  if (!node.Is<DequantizeAttrs>() || !node.input(0)->is_constant()) return false;
  const Value* x = node.input(0);
  std::optional<BlockWeights> weights;
  if (x->type().quantized() && node.attrs<DequantizeAttrs>().to == DType::kF32)
    weights = WeightsOf(x->constant(), *x->type().quant);
  if (weights) {
    NN_ASSIGN(Tensor floats, TensorOf(*std::move(weights), x->constant().dims()));
    graph.MakeConstant(node.output(), std::move(floats));
  } else {
    NN_ASSIGN(auto outputs, EvalNode(node, {&x->constant()}));
    graph.MakeConstant(node.output(), std::move(outputs[0]));
  }
  graph.Erase(&node);
  return true;
}

Status DequantizeConstants(Graph& graph) {
  NN_RETURN_IF_ERROR(ForEachRegion(graph, DequantizeConstants));
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();)
    NN_RETURN_IF_ERROR(DequantizeConstant(graph, *it++));
  return RemoveDeadCode(graph);
}

}  // namespace nn
