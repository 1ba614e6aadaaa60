#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/elementwise.h"
#include "passes/passes.h"
#include "passes/qdq.h"

namespace nn {
namespace {

bool Quantised(const Value* v) {
  return v != nullptr && v->type().quantised();
}

// Operators on the stored integers, whatever they stand for.
bool OnIntegers(const Node& node) {
  return node.Is("cast") || node.Is("opaque");
}

// Whether scales are the same but for rounding.
bool SameScales(const Quant& a, const Quant& b) {
  constexpr float kSlack = 1e-6f;
  if (a.per_axis() && b.per_axis() && a.scales.size() != b.scales.size()) return false;
  for (size_t i = 0; i < std::max(a.scales.size(), b.scales.size()); ++i)
    if (!(std::abs(a.scale(i) - b.scale(i)) <= kSlack * b.scale(i))) return false;
  return true;
}

class Unfuser {
 public:
  explicit Unfuser(Graph& graph) : graph_(graph) {}

  Status Run() {
    for (auto it = graph_.nodes().begin(); it != graph_.nodes().end();) {
      Node& node = *it++;  // what is inserted needs no visit
      if (!OnQuantisedTypes(node) || OnIntegers(node) || !node.regions().empty()) continue;
      if (!ScaleBias(node)) continue;
      NN_RETURN_IF_ERROR(Unfuse(node));
    }
    return {};
  }

 private:
  // Gives an i32 bias the scale of the product, which is what its integers mean to the operators
  // whatever scale it has. False if that cannot be done.
  bool ScaleBias(Node& node) {
    const bool product = node.Is("conv") || node.Is("conv_transpose") || node.Is("matmul");
    Value* bias = node.input(2);
    if (!product || bias == nullptr) return true;
    if (!Quantised(node.input(0)) || !Quantised(node.input(1))) return Quantised(bias);
    const Quant& x = *node.input(0)->type().quant;
    const Quant& w = *node.input(1)->type().quant;
    auto q = std::make_shared<Quant>();
    for (const float scale : w.scales) q->scales.push_back(x.scale() * scale);
    if (w.scales.size() > 1) q->axis = 0;
    if (Quantised(bias) && SameScales(*bias->type().quant, *q)) return true;
    if (!bias->is_constant()) return false;
    graph_.SetInput(&node, 2, graph_.AddConstant(bias->constant(), bias->name(), std::move(q)));
    return true;
  }

  // The reals that v stands for.
  Result<Value*> Dequantized(Value* v) {
    Value*& reals = reals_[v];
    if (reals != nullptr) return reals;
    Node* before = v->is_constant() ? &graph_.nodes().front() : graph_.After(v);
    NN_ASSIGN(Node* const node, graph_.Append("dequantize", {v}, DequantizeAttrs{}, 1, before));
    reals = node->output();
    return reals;
  }

  Status Unfuse(Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (!Quantised(node.input(i))) continue;
      const auto reals = Dequantized(node.input(i));
      if (!reals) return tl::unexpected(reals.error().In(node.Describe()));
      graph_.SetInput(&node, i, *reals);
    }
    node.set_arithmetic(Arithmetic::kDefault);
    if (node.Is("quantize")) return InferNode(node);  // a change of scale
    for (Value* v : node.outputs())
      if (Quantised(v)) NN_RETURN_IF_ERROR(QuantizeOutput(v));
    return InferNode(node);
  }

  // v becomes real; a quantize behind it yields what v was.
  Status QuantizeOutput(Value* v) {
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
    Node* quantize =
        graph_.AddNode(op, {v}, QuantizeAttrs{Rounding::kHalfAway, true}, 1, graph_.After(v));
    Value* q = quantize->output();
    q->set_type(type);
    q->set_name(v->name());
    v->set_name({});
    for (const Use& use : uses) graph_.SetInput(use.node, static_cast<size_t>(use.index), q);
    for (const size_t i : ports) graph_.set_output(i, q);
    return InferNode(*quantize);
  }

  Graph& graph_;
  std::unordered_map<const Value*, Value*> reals_;
};

}  // namespace

bool OnQuantisedTypes(const Node& node) {
  if (node.Is("dequantize")) return false;
  if (node.Is("quantize")) return Quantised(node.input(0));
  return std::ranges::any_of(node.inputs(), Quantised) ||
         std::ranges::any_of(node.outputs(), Quantised);
}

Status UnfuseQdq(Graph& graph) {
  return Unfuser(graph).Run();
}

Status DequantizeConstants(Graph& graph) {
  for (Node& node : graph.nodes()) {
    if (!node.Is("dequantize") || !node.input(0)->is_constant()) continue;
    NN_ASSIGN(auto outputs, EvalNode(node, {&node.input(0)->constant()}));
    graph.MakeConstant(node.output(), std::move(outputs[0]));
  }
  return RemoveDeadCode(graph);
}

}  // namespace nn
