// Arithmetic and activations in terms of ADD, MUL and RELU.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "formats/nnapi/export/export.h"
#include "formats/nnapi/export/rewrites.h"
#include "formats/nnapi/export/terms.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn::nnapi {
namespace {

// ---- Arithmetic

// a - b = a + -1 * b, to the bit.
Result<bool> SubtractByAdding(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  const Term minus = Term(node.input(1)) * -1;
  return Expansion(graph, node).Replace(node.input(0) + minus);
}

Result<bool> NegateByMultiplying(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  return Expansion(graph, node).Replace(Term(node.input(0)) * -1);
}

// Division by constants whose reciprocals are exact: powers of two.
Result<bool> DivideByMultiplying(Graph& graph, Node& node) {
  const Value* divisor = node.input(1);
  if (node.output()->dtype() != DType::kF32 || !divisor->is_constant() || WhyNotOperands(node))
    return false;
  const Tensor t = divisor->constant().Aligned();
  NN_ASSIGN(TensorBuilder reciprocals, TensorBuilder::Create(DType::kF32, t.dims()));
  for (int64_t i = 0; i < t.elements(); ++i) {
    const float v = t.As<float>()[static_cast<size_t>(i)];
    int exponent = 0;
    if (std::fabs(std::frexp(v, &exponent)) != 0.5f || !std::isnormal(1.0f / v)) return false;
    reciprocals.As<float>()[static_cast<size_t>(i)] = 1.0f / v;
  }
  return Expansion(graph, node).Replace(node.input(0) * Term(reciprocals.Finish()));
}

Result<bool> AbsAsSum(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  return Formulas(graph, node).Replace(Magnitude(node.input(0)));
}

// The powers 1 to 3, which are products.
Result<bool> PowerAsProduct(Graph& graph, Node& node) {
  const Value* const exponent = node.input(1);
  Value* const x = node.input(0);
  if (node.output()->dtype() != DType::kF32 || x->dtype() != DType::kF32 ||
      !exponent->is_constant() || exponent->constant().elements() != 1 ||
      !(x->type().dims == node.output()->type().dims))
    return false;
  const double power = exponent->constant().GetDouble(0);
  Expansion e(graph, node);
  if (power == 1) return e.Replace(x);
  if (power != 2 && power != 3) return false;
  const Term square = Term(x) * x;
  return e.Replace(power == 3 ? x * square : square);
}

Result<bool> DifferenceSquared(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  const Term d = node.input(0) - Term(node.input(1));
  return Expansion(graph, node).Replace(d * d);
}

// ---- Activations

// The sigmoid of the lowest numbers is 0, and so is the function at -infinity, where the product
// would be NaN.
Result<bool> SiluAsProduct(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  Expansion e(graph, node);
  const Term x = node.input(0);
  NN_ASSIGN(Value* const gate, e.Add("sigmoid", {x}));
  return e.Replace(Maximum(x, std::numeric_limits<float>::lowest()) * gate);
}

// RELU1, then RELU.
Result<bool> ClipToUnit(Graph& graph, Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (a.min != 0 || a.max != 1 || !IsReal(node) || node.inputs().size() != 1) return false;
  return Expansion(graph, node).Replace(Relu(Unit(node.input(0))));
}

Result<bool> HardSigmoidAsClip(Graph& graph, Node& node) {
  const auto a = node.attrs<HardSigmoidAttrs>();
  if (!IsReal(node)) return false;
  return Expansion(graph, node).Replace(Clip(Term(node.input(0)) * a.alpha + a.beta, 0, 1));
}

Result<bool> HardSwishAsProduct(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  const Term x = node.input(0);
  return Expansion(graph, node)
      .Replace(x * Apply("hard_sigmoid", {x}, HardSigmoidAttrs{1.0f / 6.0f, 0.5f}));
}

// relu(x) - slope * relu(-x), of which one is 0; `slope` is finite.
Result<bool> WithSlope(Graph& graph, Node& node, const Term& slope) {
  const Term x = node.input(0);
  return Formulas(graph, node).Replace(Relu(x) + Relu(-x) * -slope);
}

Result<bool> LeakyReluAsSum(Graph& graph, Node& node) {
  const float alpha = node.attrs<LeakyReluAttrs>().alpha;
  if (!IsReal(node) || !std::isfinite(alpha)) return false;
  return WithSlope(graph, node, Tensor::Scalar(alpha));
}

Result<bool> PreluAsSum(Graph& graph, Node& node) {
  Value* const slope = node.input(1);
  if (!IsReal(node) || !slope->is_constant()) return false;
  const Tensor t = slope->constant().Aligned();
  const auto slopes = t.As<float>();
  const auto is_finite = [](float f) { return std::isfinite(f); };
  if (!std::all_of(slopes.begin(), slopes.end(), is_finite)) return false;
  return WithSlope(graph, node, slope);
}

// ---- Sums of functions

Result<bool> ReducedSum(Graph& graph, Node& node, const Term& x) {
  if (!IsReal(node)) return false;
  std::vector<Term> operands(node.inputs().begin(), node.inputs().end());
  operands[0] = x;
  return Expansion(graph, node).Replace(Apply("reduce_sum", std::move(operands), node.attrs()));
}

Result<bool> SumOfSquares(Graph& graph, Node& node) {
  const Term x = node.input(0);
  return ReducedSum(graph, node, x * x);
}

Result<bool> SumOfMagnitudes(Graph& graph, Node& node) {
  return ReducedSum(graph, node, Apply("abs", {node.input(0)}));
}

}  // namespace

std::span<const Rewrite> ArithmeticRewrites() {
  static const Rewrite rewrites[] = {
      {"reduce_sum_square", "sum of squares", SumOfSquares},
      {"reduce_l1", "sum of magnitudes", SumOfMagnitudes},
      {"sub", "subtraction by addition", SubtractByAdding},
      {"neg", "negation by multiplication", NegateByMultiplying},
      {"div", "division by multiplication", DivideByMultiplying},
      {"abs", "sum of two activations", AbsAsSum},
      {"pow", "product", PowerAsProduct},
      {"squared_difference", "product", DifferenceSquared},
      {"clip", "two activations", ClipToUnit},
      {"hard_sigmoid", "clip", HardSigmoidAsClip},
      {"hard_swish", "product", HardSwishAsProduct},
      {"silu", "product", SiluAsProduct},
      {"leaky_relu", "sum", LeakyReluAsSum},
      {"prelu", "sum", PreluAsSum},
  };
  return rewrites;
}

}  // namespace nn::nnapi
