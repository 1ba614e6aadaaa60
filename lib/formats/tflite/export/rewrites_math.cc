// Functions that TensorFlow Lite lacks in elementary operators.
#include <limits>

#include "formats/tflite/export/chain.h"
#include "formats/tflite/export/rewrites.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::tflite {

// relu(x) + alpha * ELU(min(x, 0)): one of the summands is 0, so the result has the same bits. celu
// divides the argument of ELU by alpha, selu multiplies the sum by gamma.
Result<bool> EluOfAlpha(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  const bool selu = node.Is("selu");
  const float alpha = selu ? node.attrs<SeluAttrs>().alpha : node.attrs<AlphaAttrs>().alpha;
  // For other signs of alpha the formula does not hold; elu with alpha 1 needs no rewrite.
  if (!(alpha > 0) || (node.Is("elu") && alpha == 1)) return false;
  NN_ASSIGN(Node* const positive, AddLike(graph, node, "relu", {node.input(0)}));
  Chain chain(graph, node);
  NN_RETURN_IF_ERROR(chain.ThenNumber("minimum", 0));
  if (node.Is("celu")) NN_RETURN_IF_ERROR(chain.ThenNumber("div", alpha));
  NN_RETURN_IF_ERROR(chain.Then("elu", {}, AlphaAttrs{1}));
  NN_RETURN_IF_ERROR(chain.ThenNumber("mul", alpha));
  NN_RETURN_IF_ERROR(chain.Then("add", {positive->output()}));
  if (selu) NN_RETURN_IF_ERROR(chain.ThenNumber("mul", node.attrs<SeluAttrs>().gamma));
  return chain.Finish();
}

// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: for x >= 0,
//   erf(x) = 1 - (a1 t + ... + a5 t^5) e^(-x^2) + r with t = 1 / (1 + p x) and |r| <= 1.5e-7
Result<bool> ErfAsPolynomial(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  constexpr double kP = 0.3275911;
  constexpr double kA[] = {0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429};
  Value* const x = node.input(0);
  NN_ASSIGN(Node* const sign, AddLike(graph, node, "sign", {x}));
  NN_ASSIGN(Node* const square, AddLike(graph, node, "mul", {x, x}));
  NN_ASSIGN(Node* const minus, AddLike(graph, node, "neg", {square->output()}));
  NN_ASSIGN(Node* const bell, AddLike(graph, node, "exp", {minus->output()}));
  Chain chain(graph, node);
  NN_RETURN_IF_ERROR(chain.Then("abs"));
  NN_RETURN_IF_ERROR(chain.ThenNumber("mul", kP));
  NN_RETURN_IF_ERROR(chain.ThenNumber("add", 1));
  NN_ASSIGN(Value* const one, Number(graph, DType::kF32, 1));
  NN_ASSIGN(Node* const t, AddLike(graph, node, "div", {one, chain.value()}));
  Value* sum = t->output();
  for (size_t k = std::size(kA); k-- > 0;) {
    NN_ASSIGN(Value* const a, Number(graph, DType::kF32, kA[k]));
    // Of the highest power, only the coefficient.
    NN_ASSIGN(Node* const term,
              AddLike(graph, node, k + 1 == std::size(kA) ? "mul" : "add", {sum, a}));
    sum = term->output();
    if (k + 1 == std::size(kA)) continue;
    NN_ASSIGN(Node* const power, AddLike(graph, node, "mul", {sum, t->output()}));
    sum = power->output();
  }
  NN_ASSIGN(Node* const tail, AddLike(graph, node, "mul", {sum, bell->output()}));
  NN_ASSIGN(Node* const rest, AddLike(graph, node, "sub", {one, tail->output()}));
  NN_ASSIGN(Node* const y, AddLike(graph, node, "mul", {rest->output(), sign->output()}));
  Value* const result = y->output();
  graph.Replace(&node, result);
  return true;
}

// x * tanh(softplus(x)). The function is 0 at -infinity, where the product would be NaN.
Result<bool> MishAsProduct(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  NN_ASSIGN(Node* const plus, AddLike(graph, node, "softplus", {node.input(0)}));
  NN_ASSIGN(Node* const gate, AddLike(graph, node, "tanh", {plus->output()}));
  Chain chain(graph, node);
  NN_RETURN_IF_ERROR(chain.ThenNumber("maximum", std::numeric_limits<float>::lowest()));
  NN_RETURN_IF_ERROR(chain.Then("mul", {gate->output()}));
  return chain.Finish();
}

// relu(x) + log(1 + e^-|x|), which does not overflow.
Result<bool> SoftplusAsLogarithm(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  NN_ASSIGN(Node* const positive, AddLike(graph, node, "relu", {node.input(0)}));
  Chain chain(graph, node);
  for (const std::string_view op : {"abs", "neg", "exp"}) NN_RETURN_IF_ERROR(chain.Then(op));
  NN_RETURN_IF_ERROR(chain.ThenNumber("add", 1));
  NN_RETURN_IF_ERROR(chain.Then("log"));
  NN_RETURN_IF_ERROR(chain.Then("add", {positive->output()}));
  return chain.Finish();
}

// x / (1 + |x|), with the largest float instead of infinity.
Result<bool> SoftsignAsQuotient(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  Chain chain(graph, node);
  NN_RETURN_IF_ERROR(chain.ThenNumber("minimum", std::numeric_limits<float>::max()));
  NN_RETURN_IF_ERROR(chain.ThenNumber("maximum", std::numeric_limits<float>::lowest()));
  Value* const x = chain.value();
  NN_RETURN_IF_ERROR(chain.Then("abs"));
  NN_RETURN_IF_ERROR(chain.ThenNumber("add", 1));
  NN_ASSIGN(Node* const y, AddLike(graph, node, "div", {x, chain.value()}));
  Value* const result = y->output();
  graph.Replace(&node, result);
  return true;
}

}  // namespace nn::tflite
