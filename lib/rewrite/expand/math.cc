// Functions in terms of more elementary ones.
#include <limits>

#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Formulas on values and numbers of float32.
class Formula {
 public:
  Formula(Graph& graph, Node& node) : e_(graph, node), x_(node.input(0)) {}

  Value* x() const { return x_; }
  Result<Value*> Of(std::string_view op, Value* a) { return e_.Add(op, {a}); }
  Result<Value*> Of(std::string_view op, Value* a, Value* b) { return e_.Add(op, {a, b}); }
  Result<Value*> Of(std::string_view op, Value* a, double b) {
    NN_ASSIGN(Value* const n, e_.Number(DType::kF32, b));
    return e_.Add(op, {a, n});
  }
  Result<Value*> Of(std::string_view op, double a, Value* b) {
    NN_ASSIGN(Value* const n, e_.Number(DType::kF32, a));
    return e_.Add(op, {n, b});
  }
  Result<Value*> Select(Value* condition, Value* a, Value* b) {
    return e_.Add("select", {condition, a, b});
  }
  Result<Value*> Select(Value* condition, double a, Value* b) {
    NN_ASSIGN(Value* const n, e_.Number(DType::kF32, a));
    return Select(condition, n, b);
  }
  Result<Value*> Select(Value* condition, Value* a, double b) {
    NN_ASSIGN(Value* const n, e_.Number(DType::kF32, b));
    return Select(condition, a, n);
  }

  // sqrt((1 - x) (1 + x)), the other side of a right triangle.
  Result<Value*> Cathetus() {
    NN_ASSIGN(Value* const below, Of("sub", 1, x_));
    NN_ASSIGN(Value* const above, Of("add", x_, 1));
    NN_ASSIGN(Value* const product, Of("mul", below, above));
    return Of("sqrt", product);
  }

  // e^|x| / 2 in two factors, of which only the product overflows.
  Result<Value*> HalfExp(Value** reciprocal) {
    NN_ASSIGN(Value * h, Of("abs", x_));
    NN_ASSIGN(h, Of("mul", h, 0.5));
    NN_ASSIGN(h, Of("exp", h));
    NN_ASSIGN(Value * y, Of("mul", h, 0.5));
    NN_ASSIGN(y, Of("mul", y, h));
    NN_ASSIGN(Value * r, Of("div", 0.5, h));
    NN_ASSIGN(*reciprocal, Of("div", r, h));
    return y;
  }

  // log(1 + z), with z / (u - 1) for the rounding of u = 1 + z.
  Result<Value*> Log1p(Value* z) {
    NN_ASSIGN(Value* const u, Of("add", z, 1));
    NN_ASSIGN(Value* const log, Of("log", u));
    NN_ASSIGN(Value* const d, Of("sub", u, 1));
    NN_ASSIGN(Value * y, Of("div", z, d));
    NN_ASSIGN(y, Of("mul", log, y));
    NN_ASSIGN(Value* const large, Of("greater", z, 0x1p24));
    NN_ASSIGN(y, Select(large, log, y));
    NN_ASSIGN(Value* const small, Of("equal", d, 0.0));
    return Select(small, z, y);
  }

  // y(|x|) with the sign of x, and x itself where it is so small that it equals its function.
  Result<Value*> Odd(Value* y) {
    NN_ASSIGN(Value* const below, Of("less", x_, 0.0));
    NN_ASSIGN(Value* const minus, Of("neg", y));
    NN_ASSIGN(y, Select(below, minus, y));
    NN_ASSIGN(Value* const size, Of("abs", x_));
    NN_ASSIGN(Value* const tiny, Of("less", size, 0x1p-12));
    return Select(tiny, x_, y);
  }

  bool Replace(Value* y) { return e_.Replace(y); }

 private:
  Expansion e_;
  Value* x_;
};

Result<Value*> Asin(Formula& f) {
  NN_ASSIGN(Value* const other, f.Cathetus());
  return f.Of("atan2", f.x(), other);
}
Result<Value*> Acos(Formula& f) {
  NN_ASSIGN(Value* const other, f.Cathetus());
  return f.Of("atan2", other, f.x());
}
Result<Value*> Atan(Formula& f) {
  return f.Of("atan2", f.x(), 1);
}
Result<Value*> Tan(Formula& f) {
  NN_ASSIGN(Value* const sin, f.Of("sin", f.x()));
  NN_ASSIGN(Value* const cos, f.Of("cos", f.x()));
  return f.Of("div", sin, cos);
}

Result<Value*> Cosh(Formula& f) {
  Value* reciprocal = nullptr;
  NN_ASSIGN(Value* const half, f.HalfExp(&reciprocal));
  return f.Of("add", half, reciprocal);
}

// The Taylor series below 1, where the difference of exponentials loses digits.
Result<Value*> Sinh(Formula& f) {
  Value* reciprocal = nullptr;
  NN_ASSIGN(Value* const half, f.HalfExp(&reciprocal));
  NN_ASSIGN(Value * large, f.Of("sub", half, reciprocal));
  NN_ASSIGN(Value* const below, f.Of("less", f.x(), 0.0));
  NN_ASSIGN(Value* const minus, f.Of("neg", large));
  NN_ASSIGN(large, f.Select(below, minus, large));
  NN_ASSIGN(Value* const square, f.Of("mul", f.x(), f.x()));
  NN_ASSIGN(Value * sum, f.Of("mul", square, 1.0 / 362880));
  for (const double term : {1.0 / 5040, 1.0 / 120, 1.0 / 6}) {
    NN_ASSIGN(sum, f.Of("add", sum, term));
    NN_ASSIGN(sum, f.Of("mul", sum, square));
  }
  NN_ASSIGN(sum, f.Of("mul", sum, f.x()));
  NN_ASSIGN(Value* const series, f.Of("add", f.x(), sum));
  NN_ASSIGN(Value* const size, f.Of("abs", f.x()));
  NN_ASSIGN(Value* const small, f.Of("less", size, 1));
  return f.Select(small, series, large);
}

// log1p(a + a^2 / (1 + sqrt(1 + a^2))) with a = |x|; log(a) + log(2) where a^2 could overflow.
Result<Value*> Asinh(Formula& f) {
  NN_ASSIGN(Value* const a, f.Of("abs", f.x()));
  NN_ASSIGN(Value* const square, f.Of("mul", a, a));
  NN_ASSIGN(Value * z, f.Of("add", square, 1));
  NN_ASSIGN(z, f.Of("sqrt", z));
  NN_ASSIGN(z, f.Of("add", z, 1));
  NN_ASSIGN(z, f.Of("div", square, z));
  NN_ASSIGN(z, f.Of("add", a, z));
  NN_ASSIGN(Value* const near, f.Log1p(z));
  NN_ASSIGN(Value * far, f.Of("log", a));
  NN_ASSIGN(far, f.Of("add", far, 0.693147180559945));
  NN_ASSIGN(Value* const large, f.Of("greater", a, 0x1p14));
  NN_ASSIGN(Value* const y, f.Select(large, far, near));
  return f.Odd(y);
}

// log1p(t + sqrt(t) sqrt(t + 2)) with t = x - 1; log(x) + log(2) for large x.
Result<Value*> Acosh(Formula& f) {
  NN_ASSIGN(Value* const t, f.Of("sub", f.x(), 1));
  NN_ASSIGN(Value* const root, f.Of("sqrt", t));
  NN_ASSIGN(Value * z, f.Of("add", t, 2));
  NN_ASSIGN(z, f.Of("sqrt", z));
  NN_ASSIGN(z, f.Of("mul", root, z));
  NN_ASSIGN(z, f.Of("add", t, z));
  NN_ASSIGN(Value* const near, f.Log1p(z));
  NN_ASSIGN(Value * far, f.Of("log", f.x()));
  NN_ASSIGN(far, f.Of("add", far, 0.693147180559945));
  NN_ASSIGN(Value* const large, f.Of("greater", f.x(), 0x1p14));
  return f.Select(large, far, near);
}

// log1p(2 a / (1 - a)) / 2 with a = |x|.
Result<Value*> Atanh(Formula& f) {
  NN_ASSIGN(Value* const a, f.Of("abs", f.x()));
  NN_ASSIGN(Value* const rest, f.Of("sub", 1, a));
  NN_ASSIGN(Value * z, f.Of("add", a, a));
  NN_ASSIGN(z, f.Of("div", z, rest));
  NN_ASSIGN(Value * y, f.Log1p(z));
  NN_ASSIGN(y, f.Of("mul", y, 0.5));
  return f.Odd(y);
}

Result<Value*> Exp2(Formula& f) {
  return f.Of("pow", 2, f.x());
}

constexpr struct {
  std::string_view op;
  Result<Value*> (*of)(Formula&);
} kFunctions[] = {
    {"acos", Acos},   {"acosh", Acosh}, {"asin", Asin}, {"asinh", Asinh}, {"atan", Atan},
    {"atanh", Atanh}, {"cosh", Cosh},   {"exp2", Exp2}, {"sinh", Sinh},   {"tan", Tan},
};

}  // namespace

Result<bool> ExpandFunction(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  for (const auto& function : kFunctions) {
    if (!node.Is(function.op)) continue;
    Formula f(graph, node);
    NN_ASSIGN(Value* const y, function.of(f));
    return f.Replace(y);
  }
  return false;
}

// atan(|y / x|) in the quadrant of the point, of which a zero has a sign, too.
Result<bool> ExpandAtan2(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  constexpr double kPi = 3.14159265358979323846;
  Value *const y = node.input(0), *const x = node.input(1);
  Formula f(graph, node);
  NN_ASSIGN(Value* const height, f.Of("abs", y));
  NN_ASSIGN(Value* const width, f.Of("abs", x));
  NN_ASSIGN(Value* const ratio, f.Of("div", height, width));
  NN_ASSIGN(Value * angle, f.Of("atan", ratio));
  // Equal sides are 0 / 0 or infinite.
  NN_ASSIGN(Value* const diagonal, f.Of("equal", height, width));
  NN_ASSIGN(Value* const off_origin, f.Of("greater", height, 0.0));
  NN_ASSIGN(Value* const corner, f.Select(off_origin, kPi / 4, height));
  NN_ASSIGN(angle, f.Select(diagonal, corner, angle));
  const auto is_negative = [&](Value* v) -> Result<Value*> {
    // A reciprocal shows the sign of a zero.
    NN_ASSIGN(Value* const reciprocal, f.Of("div", 1, v));
    NN_ASSIGN(Value* const zero, f.Of("less", reciprocal, 0.0));
    NN_ASSIGN(Value* const number, f.Of("less", v, 0.0));
    return f.Of("or", zero, number);
  };
  NN_ASSIGN(Value* const left, is_negative(x));
  NN_ASSIGN(Value* const below, is_negative(y));
  NN_ASSIGN(Value* const rest, f.Of("sub", kPi, angle));
  NN_ASSIGN(angle, f.Select(left, rest, angle));
  NN_ASSIGN(Value* const minus, f.Of("neg", angle));
  NN_ASSIGN(Value* const result, f.Select(below, minus, angle));
  return f.Replace(result);
}

Result<bool> ExpandGelu(Graph& graph, Node& node) {
  if (!IsPlainF32(node) || node.attrs<GeluAttrs>().approximate != GeluApproximation::kSigmoid)
    return false;
  Formula f(graph, node);
  NN_ASSIGN(Value * gate, f.Of("mul", f.x(), 1.702));
  NN_ASSIGN(gate, f.Of("sigmoid", gate));
  // The sigmoid of the lowest numbers is 0, and so is the function at -infinity.
  NN_ASSIGN(Value* const x, f.Of("maximum", f.x(), std::numeric_limits<float>::lowest()));
  NN_ASSIGN(Value* const y, f.Of("mul", x, gate));
  return f.Replace(y);
}

Result<bool> ExpandShrink(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  const auto a = node.attrs<ShrinkAttrs>();
  Formula f(graph, node);
  NN_ASSIGN(Value* const above, f.Of("greater", f.x(), a.lambd));
  NN_ASSIGN(Value* const lowered, f.Of("sub", f.x(), a.bias));
  NN_ASSIGN(Value * y, f.Select(above, lowered, 0.0));
  NN_ASSIGN(Value* const below, f.Of("less", f.x(), -a.lambd));
  NN_ASSIGN(Value* const raised, f.Of("add", f.x(), a.bias));
  NN_ASSIGN(y, f.Select(below, raised, y));
  return f.Replace(y);
}

Result<bool> ExpandThresholdedRelu(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  Formula f(graph, node);
  NN_ASSIGN(Value* const above, f.Of("greater", f.x(), node.attrs<AlphaAttrs>().alpha));
  NN_ASSIGN(Value* const y, f.Select(above, f.x(), 0.0));
  return f.Replace(y);
}

// NaN is not equal to itself.
Result<bool> ExpandIsNan(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  Formula f(graph, node);
  NN_ASSIGN(Value* const y, f.Of("not_equal", f.x(), f.x()));
  return f.Replace(y);
}

Result<bool> ExpandIsInf(Graph& graph, Node& node) {
  if (!IsPlainF32(node)) return false;
  const auto a = node.attrs<IsInfAttrs>();
  Formula f(graph, node);
  Value* v = f.x();
  if (a.detect_negative && a.detect_positive) {
    NN_ASSIGN(v, f.Of("abs", v));
  } else if (!a.detect_negative && !a.detect_positive) {
    // No number is larger than infinity.
    NN_ASSIGN(Value* const never, f.Of("greater", v, kInfinity));
    return f.Replace(never);
  }
  NN_ASSIGN(Value* const y, f.Of("equal", v, a.detect_positive ? kInfinity : -kInfinity));
  return f.Replace(y);
}

// The remainder rounded down has the sign of the divisor. That of floats is taken of their sizes,
// so that it is exact; a zero gets the sign of a. The remainder of a division by 0 is a.
Result<bool> ExpandFmod(Graph& graph, Node& node) {
  Value *a = node.input(0), *b = node.input(1);
  const DType dtype = a->dtype();
  const bool narrow = dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kU8;
  if (narrow || dtype == DType::kI32 || dtype == DType::kI64) {
    if (a->type().quantized() || b->type().quantized()) return false;
    Expansion e(graph, node);
    const DType wide = narrow ? DType::kI32 : dtype;
    if (narrow) {
      NN_ASSIGN(a, e.Add("cast", {a}, CastAttrs{.to = wide}));
      NN_ASSIGN(b, e.Add("cast", {b}, CastAttrs{.to = wide}));
    }
    NN_ASSIGN(Value* const zero, e.Number(wide, 0));
    NN_ASSIGN(Value* const one, e.Number(wide, 1));
    NN_ASSIGN(Value* const by_zero, e.Add("equal", {b, zero}));
    NN_ASSIGN(Value* const by, e.Add("select", {by_zero, one, b}));
    NN_ASSIGN(Value* const r, e.Add("mod", {a, by}));
    NN_ASSIGN(Value* const some, e.Add("not_equal", {r, zero}));
    NN_ASSIGN(Value* const a_negative, e.Add("less", {a, zero}));
    NN_ASSIGN(Value* const b_negative, e.Add("less", {by, zero}));
    NN_ASSIGN(Value * other, e.Add("not_equal", {a_negative, b_negative}));
    NN_ASSIGN(other, e.Add("and", {other, some}));
    NN_ASSIGN(Value* const moved, e.Add("sub", {r, by}));
    NN_ASSIGN(Value * y, e.Add("select", {other, moved, r}));
    NN_ASSIGN(y, e.Add("select", {by_zero, a, y}));
    if (narrow) {
      NN_ASSIGN(y, e.Add("cast", {y}, CastAttrs{.to = dtype}));
    }
    return e.Replace(y);
  }
  if (!IsPlainF32(node)) return false;
  Formula f(graph, node);
  NN_ASSIGN(Value* const size, f.Of("abs", a));
  NN_ASSIGN(Value* const by, f.Of("abs", b));
  NN_ASSIGN(Value * r, f.Of("mod", size, by));
  NN_ASSIGN(Value* const none, f.Of("equal", r, 0.0));
  NN_ASSIGN(Value* const signed_zero, f.Of("mul", a, 0.0));
  NN_ASSIGN(Value* const negative, f.Of("less", a, 0.0));
  NN_ASSIGN(Value* const minus, f.Of("neg", r));
  NN_ASSIGN(r, f.Select(negative, minus, r));
  NN_ASSIGN(r, f.Select(none, signed_zero, r));
  return f.Replace(r);
}

// Exponents above 2^24 are rounded to even ones, as if they had been written as float32.
Result<bool> ExpandIntegerExponent(Graph& graph, Node& node) {
  const DType exponent = node.input(1)->dtype();
  if (!IsPlainF32(node) || !IsInteger(exponent) || DTypeBits(exponent) < 8 ||
      exponent == DType::kU64)
    return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const whole, e.Add("cast", {node.input(1)}, CastAttrs{.to = DType::kF32}));
  graph.SetInput(&node, 1, whole);
  return true;
}

}  // namespace nn
