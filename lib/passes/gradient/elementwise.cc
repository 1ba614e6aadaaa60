// Derivatives of elementwise operators. x is the input of a unary operator, y its output.
#include <cmath>
#include <numbers>

#include "ops/math/elementwise/elementwise.h"
#include "passes/gradient/rules.h"

namespace nn {
namespace {

using G = Adjoints;
using N = Node;

Value* X(const Node& node) {
  return node.input(0);
}
Value* Y(const Node& node) {
  return node.output();
}

// Of functions that are constant between steps.
Value* NoGradient(G&, const N&, Value*) {
  return nullptr;
}

// 1 - v * v
Value* OneLessSquare(G& g, Value* v) {
  return g.Plus(g.Neg(g.Square(v)), 1);
}

// v * (1 - v)
Value* SigmoidSlope(G& g, Value* v) {
  return g.Sub(v, g.Square(v));
}

Value* ClipGradient(G& g, const N& n, Value* dy) {
  const auto& a = n.attrs<ClipAttrs>();
  if (std::isfinite(a.min)) dy = g.Unless(g.Less(X(n), static_cast<double>(a.min)), dy);
  if (std::isfinite(a.max)) dy = g.Unless(g.Greater(X(n), static_cast<double>(a.max)), dy);
  return dy;
}

Value* HardSigmoidGradient(G& g, const N& n, Value* dy) {
  dy = g.Times(dy, static_cast<double>(n.attrs<HardSigmoidAttrs>().alpha));
  return g.Where(g.Less(Y(n), 1), g.Where(g.Greater(Y(n), 0), dy));
}

Value* HardSwishGradient(G& g, const N& n, Value* dy) {
  Value* const between = g.Mul(dy, g.Plus(g.Times(X(n), 1.0 / 3), 0.5));
  return g.Select(g.Less(X(n), 3), g.Where(g.Greater(X(n), -3), between), dy);
}

Value* ShrinkGradient(G& g, const N& n, Value* dy) {
  const double lambd = static_cast<double>(n.attrs<ShrinkAttrs>().lambd);
  return g.Select(g.Less(X(n), -lambd), dy, g.Where(g.Greater(X(n), lambd), dy));
}

Value* EluGradient(G& g, const N& n, Value* dy) {
  const double alpha = static_cast<double>(n.attrs<AlphaAttrs>().alpha);
  return g.Select(g.Less(X(n), 0), g.Mul(dy, g.Plus(Y(n), alpha)), dy);
}

Value* SeluGradient(G& g, const N& n, Value* dy) {
  const auto& a = n.attrs<SeluAttrs>();
  const double alpha = static_cast<double>(a.alpha), gamma = static_cast<double>(a.gamma);
  return g.Select(g.Greater(X(n), 0), g.Times(dy, gamma), g.Mul(dy, g.Plus(Y(n), alpha * gamma)));
}

Value* CeluGradient(G& g, const N& n, Value* dy) {
  const double alpha = static_cast<double>(n.attrs<AlphaAttrs>().alpha);
  return g.Select(g.Greater(X(n), 0), dy, g.Mul(dy, g.Plus(g.Times(Y(n), 1 / alpha), 1)));
}

Value* SiluGradient(G& g, const N& n, Value* dy) {
  Value* const s = g.Op("sigmoid", {X(n)});
  return g.Mul(dy, g.Add(s, g.Mul(X(n), SigmoidSlope(g, s))));
}

Value* MishGradient(G& g, const N& n, Value* dy) {
  Value* const t = g.Op("tanh", {g.Op("softplus", {X(n)})});
  Value* const slope = g.Mul(OneLessSquare(g, t), g.Op("sigmoid", {X(n)}));
  return g.Mul(dy, g.Add(t, g.Mul(X(n), slope)));
}

Value* GeluGradient(G& g, const N& n, Value* dy) {
  Value* const x = X(n);
  Value* slope = nullptr;
  switch (n.attrs<GeluAttrs>().approximate) {
    case GeluApproximation::kNone: {
      Value* const bell = g.Op("exp", {g.Times(g.Square(x), -0.5)});
      Value* const part = g.Plus(g.Op("erf", {g.Times(x, std::numbers::sqrt2 / 2)}), 1);
      slope = g.Add(g.Times(part, 0.5),
                    g.Times(g.Mul(x, bell), std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2));
      break;
    }
    case GeluApproximation::kTanh: {
      const double root = std::numbers::inv_sqrtpi * std::numbers::sqrt2, cubic = 0.044715;
      Value* const square = g.Square(x);
      Value* const u = g.Times(g.Mul(x, g.Plus(g.Times(square, cubic), 1)), root);
      Value* const t = g.Op("tanh", {u});
      Value* const du = g.Times(g.Plus(g.Times(square, 3 * cubic), 1), root);
      Value* const inner = g.Mul(g.Mul(x, OneLessSquare(g, t)), du);
      slope = g.Times(g.Plus(g.Add(t, inner), 1), 0.5);
      break;
    }
    case GeluApproximation::kSigmoid: {
      Value* const s = g.Op("sigmoid", {g.Times(x, 1.702)});
      slope = g.Add(s, g.Times(g.Mul(x, SigmoidSlope(g, s)), 1.702));
      break;
    }
  }
  return g.Mul(dy, slope);
}

void AddGradients(G& g, const N& n, std::span<Value* const> dy) {
  g.PassBroadcast(n.input(0), dy[0]);
  g.PassBroadcast(n.input(1), dy[0]);
}

void SubGradients(G& g, const N& n, std::span<Value* const> dy) {
  g.PassBroadcast(n.input(0), dy[0]);
  if (g.Wants(n.input(1))) g.PassBroadcast(n.input(1), g.Neg(dy[0]));
}

void MulGradients(G& g, const N& n, std::span<Value* const> dy) {
  Value *const a = n.input(0), *const b = n.input(1);
  if (g.Wants(a)) g.PassBroadcast(a, g.Mul(dy[0], b));
  if (g.Wants(b)) g.PassBroadcast(b, g.Mul(dy[0], a));
}

void DivGradients(G& g, const N& n, std::span<Value* const> dy) {
  Value *const a = n.input(0), *const b = n.input(1);
  Value* const part = g.Div(dy[0], b);
  g.PassBroadcast(a, part);
  if (g.Wants(b)) g.PassBroadcast(b, g.Neg(g.Mul(part, Y(n))));
}

bool HasZero(const Value* v) {
  if (!v->is_constant()) return true;
  const Tensor& t = v->constant();
  for (int64_t i = 0; i < t.elements(); ++i)
    if (t.GetDouble(i) == 0) return true;
  return false;
}

// The limits where a factor is zero and the other is not finite: the derivative of a power of 0
// with respect to its base, and that of a power of zero with respect to a positive exponent.
void PowGradients(G& g, const N& n, std::span<Value* const> dy) {
  Value *const a = n.input(0), *const b = n.input(1);
  if (g.Wants(a)) {
    Value* const power = g.Op("pow", {a, g.Plus(b, -1)});
    Value* slope = g.Mul(power, g.Cast(b, a->dtype()));
    if (HasZero(b)) slope = g.Unless(g.Op("equal", {b, g.Number(b, 0)}), slope);
    g.PassBroadcast(a, g.Mul(dy[0], slope));
  }
  if (g.Wants(b)) {
    Value* const slope = g.Mul(Y(n), g.Op("log", {a}));
    Value* const is_zero = g.Op("equal", {a, g.Number(a, 0)});
    g.PassBroadcast(b, g.Cast(g.Mul(dy[0], g.Unless(is_zero, slope)), b->dtype()));
  }
}

void ExtremumGradients(G& g, const N& n, std::span<Value* const> dy, std::string_view first) {
  Value *const a = n.input(0), *const b = n.input(1);
  Value* const is_first = g.Op(first, {a, b});
  if (g.Wants(a)) g.PassBroadcast(a, g.Where(is_first, dy[0]));
  if (g.Wants(b)) g.PassBroadcast(b, g.Unless(is_first, dy[0]));
}

void MaximumGradients(G& g, const N& n, std::span<Value* const> dy) {
  ExtremumGradients(g, n, dy, "greater");
}

void MinimumGradients(G& g, const N& n, std::span<Value* const> dy) {
  ExtremumGradients(g, n, dy, "less");
}

void Atan2Gradients(G& g, const N& n, std::span<Value* const> dy) {
  Value *const a = n.input(0), *const b = n.input(1);
  Value* const part = g.Div(dy[0], g.Add(g.Square(a), g.Square(b)));
  if (g.Wants(a)) g.PassBroadcast(a, g.Mul(part, b));
  if (g.Wants(b)) g.PassBroadcast(b, g.Neg(g.Mul(part, a)));
}

void SquaredDifferenceGradients(G& g, const N& n, std::span<Value* const> dy) {
  Value *const a = n.input(0), *const b = n.input(1);
  Value* const part = g.Mul(dy[0], g.Times(g.Sub(a, b), 2));
  g.PassBroadcast(a, part);
  if (g.Wants(b)) g.PassBroadcast(b, g.Neg(part));
}

void PreluGradients(G& g, const N& n, std::span<Value* const> dy) {
  Value *const a = n.input(0), *const b = n.input(1);
  Value* const is_less = g.Less(a, 0);
  if (g.Wants(a)) g.PassBroadcast(a, g.Select(is_less, g.Mul(dy[0], b), dy[0]));
  if (g.Wants(b)) g.PassBroadcast(b, g.Where(is_less, g.Mul(dy[0], a)));
}

void SelectGradients(G& g, const N& n, std::span<Value* const> dy) {
  Value* const condition = n.input(0);
  if (g.Wants(n.input(1))) g.PassBroadcast(n.input(1), g.Where(condition, dy[0]));
  if (g.Wants(n.input(2))) g.PassBroadcast(n.input(2), g.Unless(condition, dy[0]));
}

const GradientRow kElementwiseGradients[] = {
    {.op = "abs",
     .unary = [](G& g, const N& n, Value* dy) { return g.Mul(dy, g.Op("sign", {X(n)})); }},
    {.op = "neg", .unary = [](G& g, const N&, Value* dy) { return g.Neg(dy); }},
    {.op = "sign", .unary = NoGradient},
    {.op = "floor", .unary = NoGradient},
    {.op = "ceil", .unary = NoGradient},
    {.op = "round", .unary = NoGradient},
    {.op = "cast", .unary = [](G& g, const N& n, Value* dy) { return g.Cast(dy, X(n)->dtype()); }},
    {.op = "sqrt",
     .unary = [](G& g, const N& n, Value* dy) { return g.Div(dy, g.Add(Y(n), Y(n))); }},
    {.op = "rsqrt",
     .unary = [](G& g, const N& n,
                 Value* dy) { return g.Mul(dy, g.Times(g.Mul(Y(n), g.Square(Y(n))), -0.5)); }},
    {.op = "reciprocal",
     .unary = [](G& g, const N& n, Value* dy) { return g.Neg(g.Mul(dy, g.Square(Y(n)))); }},
    {.op = "relu",
     .unary = [](G& g, const N& n, Value* dy) { return g.Where(g.Greater(X(n), 0), dy); }},
    {.op = "clip", .unary = ClipGradient},
    {.op = "leaky_relu",
     .unary =
         [](G& g, const N& n, Value* dy) {
           const double alpha = static_cast<double>(n.attrs<LeakyReluAttrs>().alpha);
           return g.Select(g.Less(X(n), 0), g.Times(dy, alpha), dy);
         }},
    {.op = "thresholded_relu",
     .unary =
         [](G& g, const N& n, Value* dy) {
           return g.Where(g.Greater(X(n), static_cast<double>(n.attrs<AlphaAttrs>().alpha)), dy);
         }},
    {.op = "hard_sigmoid", .unary = HardSigmoidGradient},
    {.op = "hard_swish", .unary = HardSwishGradient},
    {.op = "shrink", .unary = ShrinkGradient},
    {.op = "softsign",
     .unary = [](G& g, const N& n,
                 Value* dy) { return g.Div(dy, g.Square(g.Plus(g.Op("abs", {X(n)}), 1))); }},
    {.op = "exp", .unary = [](G& g, const N& n, Value* dy) { return g.Mul(dy, Y(n)); }},
    {.op = "exp2",
     .unary = [](G& g, const N& n,
                 Value* dy) { return g.Mul(dy, g.Times(Y(n), std::numbers::ln2)); }},
    {.op = "expm1",
     .unary = [](G& g, const N& n, Value* dy) { return g.Mul(dy, g.Plus(Y(n), 1)); }},
    {.op = "log", .unary = [](G& g, const N& n, Value* dy) { return g.Div(dy, X(n)); }},
    {.op = "log1p",
     .unary = [](G& g, const N& n, Value* dy) { return g.Div(dy, g.Plus(X(n), 1)); }},
    {.op = "sigmoid",
     .unary = [](G& g, const N& n, Value* dy) { return g.Mul(dy, SigmoidSlope(g, Y(n))); }},
    {.op = "silu", .unary = SiluGradient},
    {.op = "softplus",
     .unary = [](G& g, const N& n, Value* dy) { return g.Mul(dy, g.Op("sigmoid", {X(n)})); }},
    {.op = "mish", .unary = MishGradient},
    {.op = "elu", .unary = EluGradient},
    {.op = "selu", .unary = SeluGradient},
    {.op = "celu", .unary = CeluGradient},
    {.op = "gelu", .unary = GeluGradient},
    {.op = "erf",
     .unary =
         [](G& g, const N& n, Value* dy) {
           Value* const bell = g.Op("exp", {g.Neg(g.Square(X(n)))});
           return g.Mul(dy, g.Times(bell, 2 * std::numbers::inv_sqrtpi));
         }},
    {.op = "sin",
     .unary = [](G& g, const N& n, Value* dy) { return g.Mul(dy, g.Op("cos", {X(n)})); }},
    {.op = "cos",
     .unary = [](G& g, const N& n, Value* dy) { return g.Neg(g.Mul(dy, g.Op("sin", {X(n)}))); }},
    {.op = "tan",
     .unary = [](G& g, const N& n, Value* dy) { return g.Mul(dy, g.Plus(g.Square(Y(n)), 1)); }},
    {.op = "asin",
     .unary = [](G& g, const N& n,
                 Value* dy) { return g.Div(dy, g.Op("sqrt", {OneLessSquare(g, X(n))})); }},
    {.op = "acos",
     .unary = [](G& g, const N& n,
                 Value* dy) { return g.Neg(g.Div(dy, g.Op("sqrt", {OneLessSquare(g, X(n))}))); }},
    {.op = "atan",
     .unary = [](G& g, const N& n, Value* dy) { return g.Div(dy, g.Plus(g.Square(X(n)), 1)); }},
    {.op = "sinh",
     .unary = [](G& g, const N& n, Value* dy) { return g.Mul(dy, g.Op("cosh", {X(n)})); }},
    {.op = "cosh",
     .unary = [](G& g, const N& n, Value* dy) { return g.Mul(dy, g.Op("sinh", {X(n)})); }},
    {.op = "tanh",
     .unary = [](G& g, const N& n, Value* dy) { return g.Mul(dy, OneLessSquare(g, Y(n))); }},
    {.op = "asinh",
     .unary = [](G& g, const N& n,
                 Value* dy) { return g.Div(dy, g.Op("sqrt", {g.Plus(g.Square(X(n)), 1)})); }},
    {.op = "acosh",
     .unary = [](G& g, const N& n,
                 Value* dy) { return g.Div(dy, g.Op("sqrt", {g.Plus(g.Square(X(n)), -1)})); }},
    {.op = "atanh",
     .unary = [](G& g, const N& n, Value* dy) { return g.Div(dy, OneLessSquare(g, X(n))); }},
    {.op = "add", .rule = AddGradients},
    {.op = "sub", .rule = SubGradients},
    {.op = "mul", .rule = MulGradients},
    {.op = "div", .rule = DivGradients},
    {.op = "pow", .rule = PowGradients},
    {.op = "maximum", .rule = MaximumGradients},
    {.op = "minimum", .rule = MinimumGradients},
    {.op = "atan2", .rule = Atan2Gradients},
    {.op = "squared_difference", .rule = SquaredDifferenceGradients},
    {.op = "prelu", .rule = PreluGradients},
    {.op = "select", .rule = SelectGradients},
};

}  // namespace

std::span<const GradientRow> ElementwiseGradients() {
  return kElementwiseGradients;
}

}  // namespace nn
