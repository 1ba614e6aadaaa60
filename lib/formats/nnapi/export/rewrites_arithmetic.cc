// Arithmetic and activations in terms of ADD, MUL and RELU.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "formats/nnapi/export/export.h"
#include "formats/nnapi/export/rewrites.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "rewrite/expand.h"

namespace nn::nnapi {
namespace {

// ---- Arithmetic

Result<Value*> TimesNumber(Graph& graph, Node& node, Value* v, float number) {
  return Expansion(graph, node).Add("mul", {v, graph.AddConstant(Tensor::Scalar(number))});
}

Result<Value*> Negated(Graph& graph, Node& node, Value* v) {
  return TimesNumber(graph, node, v, -1.0f);
}

// a - b = a + -1 * b, to the bit.
Result<bool> SubtractByAdding(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  NN_ASSIGN(Value* const b, Negated(graph, node, node.input(1)));
  NN_ASSIGN(Value* const y, Expansion(graph, node).Add("add", {node.input(0), b}));
  return Expansion(graph, node).Replace(y);
}

Result<bool> NegateByMultiplying(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  NN_ASSIGN(Value* const y, Negated(graph, node, node.input(0)));
  return Expansion(graph, node).Replace(y);
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
  Value* factor = graph.AddConstant(reciprocals.Finish());
  NN_ASSIGN(Value* const y, Expansion(graph, node).Add("mul", {node.input(0), factor}));
  return Expansion(graph, node).Replace(y);
}

Result<bool> AbsAsSum(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const positive, e.Add("relu", {node.input(0)}));
  NN_ASSIGN(Value * y, Negated(graph, node, node.input(0)));
  NN_ASSIGN(y, e.Add("relu", {y}));
  NN_ASSIGN(y, e.Add("add", {positive, y}));
  return e.Replace(y);
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
  NN_ASSIGN(Value * y, e.Add("mul", {x, x}));
  if (power == 3) {
    NN_ASSIGN(y, e.Add("mul", {x, y}));
  }
  return e.Replace(y);
}

Result<bool> DifferenceSquared(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const d, e.Add("sub", {node.input(0), node.input(1)}));
  NN_ASSIGN(Value* const y, e.Add("mul", {d, d}));
  return e.Replace(y);
}

// ---- Activations

// The sigmoid of the lowest numbers is 0, and so is the function at -infinity, where the product
// would be NaN.
Result<bool> SiluAsProduct(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const gate, e.Add("sigmoid", {node.input(0)}));
  Value* const lowest = e.Constant(Tensor::Scalar(std::numeric_limits<float>::lowest()));
  NN_ASSIGN(Value * y, e.Add("maximum", {node.input(0), lowest}));
  NN_ASSIGN(y, e.Add("mul", {y, gate}));
  return e.Replace(y);
}

// RELU1, then RELU.
Result<bool> ClipToUnit(Graph& graph, Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (a.min != 0 || a.max != 1 || !IsReal(node) || node.inputs().size() != 1) return false;
  NN_ASSIGN(Value * y, Expansion(graph, node).Add("clip", {node.input(0)}, ClipAttrs{-1, 1}));
  NN_ASSIGN(y, Expansion(graph, node).Add("relu", {y}));
  return Expansion(graph, node).Replace(y);
}

Result<bool> HardSigmoidAsClip(Graph& graph, Node& node) {
  const auto a = node.attrs<HardSigmoidAttrs>();
  if (!IsReal(node)) return false;
  NN_ASSIGN(Value * y, TimesNumber(graph, node, node.input(0), a.alpha));
  NN_ASSIGN(y, Expansion(graph, node).Add("add", {y, graph.AddConstant(Tensor::Scalar(a.beta))}));
  NN_ASSIGN(y, Expansion(graph, node).Add("clip", {y}, ClipAttrs{0, 1}));
  return Expansion(graph, node).Replace(y);
}

Result<bool> HardSwishAsProduct(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  NN_ASSIGN(Value * y,
            Expansion(graph, node)
                .Add("hard_sigmoid", {node.input(0)}, HardSigmoidAttrs{1.0f / 6.0f, 0.5f}));
  NN_ASSIGN(y, Expansion(graph, node).Add("mul", {node.input(0), y}));
  return Expansion(graph, node).Replace(y);
}

// relu(x) - slope * relu(-x), of which one is 0; `slope` is finite.
Result<bool> WithSlope(Graph& graph, Node& node, Value* slope) {
  NN_ASSIGN(Value* const positive, Expansion(graph, node).Add("relu", {node.input(0)}));
  NN_ASSIGN(Value * y, Negated(graph, node, node.input(0)));
  NN_ASSIGN(y, Expansion(graph, node).Add("relu", {y}));
  NN_ASSIGN(Value* const factor, Negated(graph, node, slope));
  NN_ASSIGN(y, Expansion(graph, node).Add("mul", {y, factor}));
  NN_ASSIGN(y, Expansion(graph, node).Add("add", {positive, y}));
  return Expansion(graph, node).Replace(y);
}

Result<bool> LeakyReluAsSum(Graph& graph, Node& node) {
  const float alpha = node.attrs<LeakyReluAttrs>().alpha;
  if (!IsReal(node) || !std::isfinite(alpha)) return false;
  return WithSlope(graph, node, graph.AddConstant(Tensor::Scalar(alpha)));
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

Result<bool> SumOfSquares(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  Expansion e(graph, node);
  NN_ASSIGN(inputs[0], e.Add("mul", {inputs[0], inputs[0]}));
  NN_ASSIGN(Value* const y, e.Add("reduce_sum", std::move(inputs), node.attrs()));
  return e.Replace(y);
}

Result<bool> SumOfMagnitudes(Graph& graph, Node& node) {
  if (!IsReal(node)) return false;
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  Expansion e(graph, node);
  NN_ASSIGN(inputs[0], e.Add("abs", {inputs[0]}));
  NN_ASSIGN(Value* const y, e.Add("reduce_sum", std::move(inputs), node.attrs()));
  return e.Replace(y);
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
