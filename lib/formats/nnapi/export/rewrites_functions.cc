// Elementary functions, from LOGISTIC, TANH and the powers that LOCAL_RESPONSE_NORMALIZATION
// computes: with radius 0 it is x / (bias + x^2)^beta.
#include "formats/nnapi/export/rewrites_functions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "formats/nnapi/export/rewrites.h"
#include "formats/nnapi/export/terms.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/norm.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"
#include "passes/facts/ranges.h"
#include "rewrite/expand.h"

namespace nn::nnapi {
namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

// ---- Parts --------------------------------------------------------------------------------------

Term Sigmoid(Term x) {
  return Apply("sigmoid", {x});
}
Term Tanh(Term x) {
  return Apply("tanh", {x});
}
// max(x, -128), where the functions that need it are 0.
Term AboveMinus128(Term x) {
  return Relu(x) + AtMostOne(Relu(x * -0x1p-7)) * -128.0;
}

// c[0] + c[1] x + ...
Term Polynomial(Term x, std::initializer_list<double> c) {
  const double* const numbers = c.begin();
  Term y = x * numbers[c.size() - 1];
  for (size_t i = c.size() - 2; i > 0; --i) y = (y + numbers[i]) * x;
  return y + numbers[0];
}

// x^exponent for x in [lo, hi], where 0 < lo and hi / lo is at most 2^107. Scaled so that the
// squares are finite and the bias, which must not be 0, does not count.
Term NarrowPower(Term x, double exponent, double lo, double hi) {
  const double scale = std::exp2(-std::round((std::log2(lo) + std::log2(hi)) / 2));
  const Term power = Apply("lrn", {Times(x, scale)},
                           LrnAttrs{.size = 1,
                                    .alpha = 1,
                                    .beta = static_cast<float>((1 - exponent) / 2),
                                    .bias = 0x1p-126f,
                                    .layout = Layout::kNxc});
  return Times(power, std::pow(scale, -exponent));
}

// x^exponent for x in [lo, hi], -1 <= exponent < 1; 0 may be among them if the exponent is
// positive. A product of powers of parts of x, each of which covers a range and is 1 outside.
// Infinity counts as 2^128.
Term Power(Term x, double exponent, double lo, double hi) {
  constexpr int kBits = 100, kTop = 128;
  if (lo > 0 && hi / lo <= std::exp2(kBits)) return NarrowPower(x, exponent, lo, hi);
  const bool has_low = lo < 0x1p-58;
  const int cut = has_low ? 42 : static_cast<int>(std::floor(std::log2(lo))) + kBits;
  const Term small = Times(x, std::exp2(-cut));
  // min(x, 2^cut) / 2^cut, and where there is a lower part, no less than 2^-84.
  Term middle = AtMostOne(small);
  if (has_low) {
    middle = Relu(middle * 0x1p84 - 1.0) + 1.0;
    middle = NarrowPower(middle, exponent, 1, 0x1p84) * std::exp2(-cut * exponent);
    const Term low = AtMostOne(x * 0x1p42);
    middle = middle * NarrowPower(low, exponent, 0x1p-107, 1);
  } else {
    middle = Times(NarrowPower(middle, exponent, std::exp2(-kBits), 1), std::exp2(cut * exponent));
  }
  if (hi <= std::exp2(cut)) return middle;
  const int bits = kTop - cut;
  const Term high = AtMostOne(Times(Relu(small - 1.0) + 1.0, std::exp2(-bits)));
  const Term y =
      Times(middle * NarrowPower(high, exponent, std::exp2(-bits), 1), std::exp2(bits * exponent));
  if (hi <= kLargest) return y;
  // So far, infinity counts as 2^128.
  const Term excess = Relu(x - kLargest);
  return exponent > 0 ? y + excess : y * (AtMostOne(excess) * -1.0 + 1.0);
}

Term Reciprocal(Term x, double lo, double hi) {
  return Power(x, -1, lo, hi);
}

// e^x = (sigmoid(h) / sigmoid(-h))^2 with h = x / 2, which overflows and underflows where e^x does.
Term Exponential(Term x) {
  const Term half = Unit(x * 0x1p-7) * 64.0;
  const Term root = Sigmoid(half) * Reciprocal(Sigmoid(-half), 0x1p-93, 1);
  return root * root;
}
// Of numbers that are not positive.
Term ExponentialBelow0(Term x) {
  return Sigmoid(x) * Reciprocal(Sigmoid(-x), 0.5, 1);
}
// 1 - e^-x of numbers that are not negative: tanh(x / 2) (1 + e^-x).
Term Saturation(Term x) {
  return Tanh(x * 0.5) * Reciprocal(Sigmoid(x), 0.5, 1);
}

// 2 atanh(t) of |t| <= 1/3; 2^-33.
Term TwiceAtanh(Term t) {
  return t * Polynomial(t * t, {2.0, 0.66666680, 0.39998626, 0.28622536, 0.21372814, 0.24492996});
}

// log(x) of x in [lo, hi], which has only numbers above 0. The logarithm m of the root of degree
// 2^k loses k bits; log(x) = m + log(x e^-m), where x e^-m is almost 1.
Term Logarithm(Term x, double lo, double hi) {
  int k = 0;
  const double most = std::max(std::fabs(std::log(std::max(lo, 0x1p-149))),
                               std::fabs(std::log(std::min(hi, 0x1p128))));
  while (most / std::exp2(k) > std::log(2.0)) ++k;
  // The factor also corrects the result for infinity.
  const Term root = k == 0 ? x : Power(x, std::exp2(-k), lo, std::min(hi, kLargest));
  const Term t = (root - 1.0) * Reciprocal(root + 1.0, 1.5, 3);
  const Term m = Times(TwiceAtanh(t), std::exp2(k));
  if (k == 0) return m;
  const Term half = m * 0.5;
  const Term factor = Sigmoid(-half) * Reciprocal(Sigmoid(half), 0x1p-70, 1);
  return m + (x * factor * factor - 1.0);
}

Term Softplus(Term x) {
  const Term above = Relu(x);
  const Term size = above + Relu(-x);
  // log(1 + e^-size) = 2 atanh(e^-size / (2 + e^-size)).
  const Term t = Sigmoid(-size) * Reciprocal(Sigmoid(size) + 1.0, 1.5, 2);
  return above + TwiceAtanh(t);
}

// Adds NaN where the number is positive.
Term NanAbove0(Term y, Term x) {
  return y + InfiniteAt(Step(x)) * 0.0;
}

// sin(r) of |r| <= 1.575; 2^-35.
Term NearSine(Term r) {
  return r +
         r * (r * r) *
             Polynomial(r * r, {-0.16666666625021262, 0.008333331059502647, -0.0001984086161981001,
                                2.752503834906918e-06, -2.3882684760390127e-08});
}

// sin(x + halves pi), where halves is 0 or 0.5. x is reduced by a multiple of pi, of 12 bits or of
// two times 12 bits: their products with parts of pi of 11 bits are exact. Beyond 2^24 pi, the
// result is NaN.
Term Sine(Term x, double halves, const Interval& range) {
  constexpr double kPi[] = {0x1.92p+1, 0x1.fb4p-11, 0x1.444p-23, 0x1.68c234c4c6629p-38};
  constexpr double kPeriod = std::numbers::pi * 0x1p12, kMax = kPeriod * 0x1p12;
  const double most = std::max(-range.min, range.max);
  Term rest = x;
  std::optional<Term> high;
  if (most > kPeriod) {
    high = Floor(x * (1 / kPeriod) + 0.5);
    for (const double part : {kPi[0], kPi[1], kPi[2]}) rest = rest + *high * (-part * 0x1p12);
  }
  // The parity of the multiple is the sign.
  const Term low = Floor(rest * std::numbers::inv_pi + (halves == 0 ? 0.5 : 0.0));
  const Term parity = low + Floor(low * 0.5) * -2.0;
  const Term multiple = halves == 0 ? low : low + halves;
  Term r = x;
  for (const double part : kPi) {
    if (high) r = r + *high * (-part * 0x1p12);
    r = r + multiple * -part;
  }
  const Term sign = halves == 0 ? parity * -2.0 + 1.0 : parity * 2.0 - 1.0;
  const Term y = NearSine(r) * sign;
  return most <= kMax ? y : NanAbove0(y, Magnitude(x) - kMax);
}

// ---- Operators ----------------------------------------------------------------------------------

Term Exp(const Node&, Term x) {
  return Exponential(x);
}
Term Expm1(const Node&, Term x) {
  return Tanh(x * 0.5) * (Exponential(x) + 1.0);
}
Term Elu(const Node& node, Term x) {
  const double alpha = node.attrs<AlphaAttrs>().alpha;
  return Relu(x) + Times(Saturation(Relu(-x)), -alpha);
}
Term Selu(const Node& node, Term x) {
  const auto& a = node.attrs<SeluAttrs>();
  const double gamma = a.gamma;
  return Times(Relu(x), gamma) + Times(Saturation(Relu(-x)), -gamma * static_cast<double>(a.alpha));
}
Term Celu(const Node& node, Term x) {
  const double alpha = node.attrs<AlphaAttrs>().alpha;
  return Relu(x) + Saturation(Relu(x * (-1 / alpha))) * -alpha;
}
Term SoftplusOf(const Node&, Term x) {
  return Softplus(x);
}
Term LogSigmoid(const Node&, Term x) {
  return -Softplus(-x);
}
Term Mish(const Node&, Term x) {
  return AboveMinus128(x) * Tanh(Softplus(x));
}
// Beyond 2^30, x / (1 + |x|) rounds to the sign of x.
Term Softsign(const Node&, Term x) {
  const Term near = Unit(x * 0x1p-30) * 0x1p30;
  return near * Reciprocal(Magnitude(near) + 1.0, 1, 0x1p31);
}

// tanh(4 z p(z^2)) with z = x / 4; 2^-24.9. Beyond 4, erf rounds to 1.
Term Erf(const Node&, Term x) {
  const Term z = Unit(x * 0.25);
  return Tanh(z * Polynomial(z * z, {4.5135168, 6.57736416, -0.20700372, -9.89070856, 20.05131908,
                                     -7.80620468, -34.56605636, 57.89015196, -28.18661376}));
}

// x sigmoid(q) with q = log(p / (1 - p)) for the normal distribution p of x: an odd polynomial up
// to 6, and a line beyond.
Term GeluOf(const Node& node, Term x) {
  const Term bounded = AboveMinus128(x);
  switch (node.attrs<GeluAttrs>().approximate) {
    case GeluApproximation::kTanh:
      return bounded *
             Sigmoid(x * Polynomial(bounded * bounded, {1.5957691216057308, 0.07135481282052}));
    case GeluApproximation::kSigmoid:
      return bounded * Sigmoid(x * 1.702);
    case GeluApproximation::kNone:
      break;
  }
  const Term z = Unit(x * (1.0 / 6));
  const Term inner = z * 6.0;
  const Term odd =
      inner * Polynomial(z * z, {1.5957771821544982, 2.6151925481886966, -0.05960824674849752,
                                 -5.4947379668149825, 15.494075485812065, -22.976884443648707,
                                 17.27822465914676, -0.843642072659236, -9.615974537733564,
                                 7.226349392254633, -1.7626477060985053});
  return bounded * Sigmoid(odd + (x - inner) * 6.0);
}

Term Sqrt(const Node& node, Term x) {
  const Interval range = Ranges().Of(node.input(0));
  const double lo = std::max(range.min, 0.0);
  const Term p = range.min >= 0 ? x : Relu(x);
  const Term y = Power(p, 0.5, lo, range.max);
  return range.min >= 0 ? y : NanAbove0(y, -x);
}

// 0 is replaced by 1, and -infinity is added there.
Term Log(const Node& node, Term x) {
  const Interval range = Ranges().Of(node.input(0));
  if (IsAboveZero(range)) return Logarithm(x, range.min, range.max);
  const Term p = range.min >= 0 ? x : Relu(x);
  const Term zero = -Step(p) + 1.0;
  const Term y = Logarithm(p + zero, 0, range.max) - InfiniteAt(zero);
  return range.min >= 0 ? y : NanAbove0(y, -x);
}

// The nearest integer, an even one of two, which a sum with 2^23 is: of |x| and with its sign.
Term Round(const Node&, Term x) {
  const auto of = [](Term size) {
    const Term near = AtMostOne(size * 0x1p-23) * 0x1p23;
    return near + 0x1p23 - 0x1p23 + (size - near);
  };
  return of(Relu(x)) + -of(Relu(-x));
}
Term Sin(const Node& node, Term x) {
  return Sine(x, 0, Ranges().Of(node.input(0)));
}
Term Cos(const Node& node, Term x) {
  return Sine(x, 0.5, Ranges().Of(node.input(0)));
}
Term Ceil(const Node&, Term x) {
  return -Floor(-x);
}
Term Sign(const Node&, Term x) {
  return SignOf(x);
}

// Factors of parts that may be 0 must be finite, as must the reciprocal of celu's.
bool HasFiniteAlpha(const Node& node) {
  return std::isfinite(node.attrs<AlphaAttrs>().alpha);
}
bool HasLargeAlpha(const Node& node) {
  return HasFiniteAlpha(node) && node.attrs<AlphaAttrs>().alpha >= 0x1p-120f;
}
bool HasFiniteProduct(const Node& node) {
  const auto& a = node.attrs<SeluAttrs>();
  return std::isfinite(a.gamma) && std::isfinite(a.gamma * a.alpha);
}

constexpr struct {
  std::string_view op;
  Term (*of)(const Node&, Term x);
  bool (*applies)(const Node&) = nullptr;  // null: to all
} kFunctionTable[] = {
    {"exp", Exp},
    {"expm1", Expm1},
    {"elu", Elu, HasFiniteAlpha},
    {"selu", Selu, HasFiniteProduct},
    {"celu", Celu, HasLargeAlpha},
    {"erf", Erf},
    {"softplus", SoftplusOf},
    {"log_sigmoid", LogSigmoid},
    {"mish", Mish},
    {"softsign", Softsign},
    {"gelu", GeluOf},
    {"sqrt", Sqrt},
    {"log", Log},
    {"sin", Sin},
    {"cos", Cos},
    {"round", Round},
    {"ceil", Ceil},
    {"sign", Sign},
};

bool HasShape(const Node& node) {
  const auto dims = node.output()->type().const_dims();
  const auto known = [](const Value* v) { return v == nullptr || v->type().const_dims(); };
  return IsReal(node) && std::ranges::all_of(node.inputs(), known) && dims &&
         CheckedElements(*dims).value_or(0) > 0;
}

Result<bool> FunctionOfX(Graph& graph, Node& node) {
  if (!HasShape(node)) return false;
  for (const auto& function : kFunctionTable) {
    if (!node.Is(function.op)) continue;
    if (function.applies != nullptr && !function.applies(node)) return false;
    return Formulas(graph, node).Replace(function.of(node, node.input(0)));
  }
  return false;
}

// 1 / d for values that are bounded away from 0; null for others.
std::optional<Term> ReciprocalOf(Value* divisor) {
  const Interval range = Ranges().Of(divisor);
  const Term d = divisor;
  if (IsAboveZero(range)) return Reciprocal(d, range.min, range.max);
  if (IsBelowZero(range)) return -Reciprocal(-d, -range.max, -range.min);
  return std::nullopt;
}

// A rule divides by constants.
Result<bool> Divide(Graph& graph, Node& node) {
  if (!HasShape(node) || node.input(1)->is_constant()) return false;
  const auto factor = ReciprocalOf(node.input(1));
  if (!factor) return false;
  return Formulas(graph, node).Replace(node.input(0) * *factor);
}

Result<bool> Invert(Graph& graph, Node& node) {
  const auto y = HasShape(node) ? ReciprocalOf(node.input(0)) : std::nullopt;
  if (!y) return false;
  return Formulas(graph, node).Replace(*y);
}

Result<bool> InvertRoot(Graph& graph, Node& node) {
  if (!HasShape(node)) return false;
  const Interval range = Ranges().Of(node.input(0));
  if (!IsAboveZero(range)) return false;
  return Formulas(graph, node).Replace(Power(node.input(0), -0.5, range.min, range.max));
}

// A power whose exponent is -1, -1/2 or 1/2.
Result<bool> PowerAsRoot(Graph& graph, Node& node) {
  if (!HasShape(node)) return false;
  const Value* const exponent = node.input(1);
  if (!exponent->is_constant() || exponent->constant().elements() != 1 ||
      exponent->dtype() != DType::kF32 ||
      !(node.input(0)->type().dims == node.output()->type().dims))
    return false;
  const double power = exponent->constant().GetDouble(0);
  const std::string_view op = power == -1 ? "reciprocal" : power == -0.5 ? "rsqrt" : "sqrt";
  if (power != -1 && power != -0.5 && power != 0.5) return false;
  const Interval range = Ranges().Of(node.input(0));
  if (power < 0 ? !IsAboveZero(range) : range.min < 0) return false;
  return Expansion(graph, node).Replace(Apply(op, {node.input(0)}));
}

// x - max - log(sum(e^(x - max))), where the sum is between 1 and the number of its terms.
Result<bool> LogSoftmax(Graph& graph, Node& node) {
  if (!HasShape(node)) return false;
  const int64_t axis = node.attrs<AlongAxisAttrs>().axis;
  const auto dims = *node.output()->type().const_dims();
  if (dims.empty()) return false;
  const auto rank = static_cast<int64_t>(dims.size());
  const auto n = static_cast<double>(dims[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
  const ReduceAttrs along{{axis}, true};
  const Term x = node.input(0);
  const Term below = x - Apply("reduce_max", {x}, along);
  const Term sum = Apply("reduce_sum", {ExponentialBelow0(below)}, along);
  return Formulas(graph, node).Replace(below - Logarithm(sum, 0.99, n * 1.01));
}

}  // namespace

std::span<const Rewrite> FunctionRewrites() {
  static const auto rewrites = [] {
    std::vector<Rewrite> rows = {
        {"div", "product with a power", Divide, true},
        {"reciprocal", "power", Invert, true},
        {"rsqrt", "power", InvertRoot, true},
        {"pow", "root", PowerAsRoot, true},
        {"log_softmax", "logarithm of a sum", LogSoftmax},
    };
    for (const auto& function : kFunctionTable)
      rows.push_back({function.op, "elementary functions", FunctionOfX});
    return rows;
  }();
  return rewrites;
}

bool IsFunction(std::string_view op) {
  return std::ranges::count(FunctionRewrites(), op, &Rewrite::op) > 0;
}

std::optional<std::string> WhyNoFunction(const Node& node) {
  if (!IsReal(node) || !IsFunction(node.op_name())) return std::nullopt;
  const std::string lacks = fmt::format("NNAPI 1.0 has no {} operation", node.op_name());
  const bool divides = node.Is("div"), is_root = node.Is("rsqrt");
  if (!divides && !is_root && !node.Is("reciprocal")) return std::nullopt;
  const Interval range = Ranges().Of(node.input(divides ? 1 : 0));
  if (IsAboveZero(range) || (IsBelowZero(range) && !is_root)) return std::nullopt;
  return lacks + (divides ? ", and the divisor may be 0" : ", and the input may be 0");
}

}  // namespace nn::nnapi
