// EqualizeChannels: equal ranges of the weights of successive products.
//
// Source: Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction"
// (2019), section 4.1.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "ir/op_def.h"
#include "ops/quant/int8_rules.h"
#include "passes/quantize/quantize.h"

namespace nn {
namespace {

bool IsWeightOf(const Value* v) {
  return v != nullptr && v->is_constant() && v->dtype() == DType::kF32 && !v->type().quantized() &&
         v->uses().size() == 1 && !v->is_output();
}

// A product whose weights may be scaled.
std::optional<ProductAxes> ScalableProduct(const Node& node) {
  const auto axes = ProductAxesOf(node);
  if (!axes || !IsWeightOf(node.input(1)) ||
      (node.input(2) != nullptr && !IsWeightOf(node.input(2))))
    return std::nullopt;
  return axes;
}

// Whether f(s x) = s f(x) for s > 0.
bool ScalesWithOperand(const Node& node) {
  if (node.op().clamp == nullptr) return false;
  const Interval bounds = node.op().clamp(node);
  return bounds.min == 0 && std::isinf(bounds.max);
}

// Multiplies the elements by factors along an axis.
Result<Tensor> ScaledAlong(const Tensor& t, int axis, const std::vector<double>& factors) {
  const int64_t inner = Strides(t.dims())[static_cast<size_t>(axis)];
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kF32, t.dims()));
  for (int64_t i = 0; i < b.elements(); ++i)
    b.SetDouble(i, t.GetDouble(i) * factors[static_cast<size_t>(i / inner % t.dim(axis))]);
  return b.Finish();
}

// Whether each group of channels has one input channel, so that the output channels are its own.
bool IsOnePerGroup(const Node& node, const ProductAxes& axes) {
  return axes.per_channel && node.input(1)->constant().dim(axes.weights_input) == 1 &&
         node.input(1)->constant().dim(axes.weights_output) == axes.groups;
}

// Two products, of which the first one computes the input of the second one.
struct ProductPair {
  Node* first;
  Node* second;
  ProductAxes a, b;
};

std::optional<ProductPair> PairAt(const Graph& graph, Node& node,
                                  const std::function<bool(const Node&)>& keeps) {
  const auto is_kept = [&](const Node& n) { return keeps && keeps(n); };
  const auto a = ScalableProduct(node);
  if (!a || is_kept(node) || (a->groups != 1 && !a->per_channel)) return std::nullopt;
  const Value* y = node.output();
  while (y->uses().size() == 1 && !graph.IsOutput(y)) {
    Node* const user = y->uses()[0].node;
    if (is_kept(*user)) return std::nullopt;
    if (ScalesWithOperand(*user)) {
      y = user->output();
      continue;
    }
    const auto b = ScalableProduct(*user);
    if (!b || y->uses()[0].index != 0 || b->input != a->result ||
        (b->groups != 1 && !IsOnePerGroup(*user, *b)))
      return std::nullopt;
    return ProductPair{&node, user, *a, *b};
  }
  return std::nullopt;
}

// Scales the weights of both; false if they are equal already.
Result<bool> Equalize(Graph& graph, const ProductPair& p) {
  const Tensor& w1 = p.first->input(1)->constant();
  const Tensor& w2 = p.second->input(1)->constant();
  const int axis2 = p.b.groups == 1 ? p.b.weights_input : p.b.weights_output;
  NN_ASSIGN(const std::vector<double> r1, LargestMagnitudes(w1, p.a.weights_output));
  NN_ASSIGN(const std::vector<double> r2, LargestMagnitudes(w2, axis2));
  if (r1.size() != r2.size()) return false;
  std::vector<double> down(r1.size(), 1), up(r1.size(), 1);
  bool changed = false;
  for (size_t i = 0; i < r1.size(); ++i) {
    if (!(r1[i] > 0) || !(r2[i] > 0)) continue;
    // A power of two, so that no weight is rounded.
    const int exponent = std::ilogb(std::sqrt(r1[i] / r2[i]));
    changed = changed || exponent != 0;
    down[i] = std::ldexp(1, -exponent);
    up[i] = std::ldexp(1, exponent);
  }
  if (!changed) return false;
  const auto set = [&](Node* node, size_t i, Tensor t) {
    graph.SetInput(node, i, graph.AddConstant(std::move(t), SharedString(node->input(i)->name())));
  };
  NN_ASSIGN(Tensor first, ScaledAlong(w1, p.a.weights_output, down));
  NN_ASSIGN(Tensor second, ScaledAlong(w2, axis2, up));
  if (p.first->input(2) != nullptr) {
    NN_ASSIGN(Tensor bias, ScaledAlong(p.first->input(2)->constant(), 0, down));
    set(p.first, 2, std::move(bias));
  }
  set(p.first, 1, std::move(first));
  set(p.second, 1, std::move(second));
  return true;
}

}  // namespace

Result<int64_t> EqualizeChannels(Graph& graph, const std::function<bool(const Node&)>& keeps) {
  std::vector<ProductPair> pairs;
  for (Node& node : graph.nodes())
    if (const auto pair = PairAt(graph, node, keeps)) pairs.push_back(*pair);
  int64_t count = 0;
  for (const ProductPair& pair : pairs) {
    NN_ASSIGN(const bool changed, Equalize(graph, pair));
    count += changed ? 1 : 0;
  }
  return count;
}

}  // namespace nn
