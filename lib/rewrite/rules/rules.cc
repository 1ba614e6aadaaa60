#include "rewrite/rules/rules.h"

#include <fmt/core.h>

#include <cstdlib>
#include <map>
#include <utility>

namespace nn {
namespace {

constexpr std::string_view kHelpers[] = {
    // The lowest number in place of -infinity, whose product with 0 is NaN.
    "finite(x) = clip(x, min = lowest)",
    // Also of a zero, of which the reciprocal shows the sign.
    "is_negative(x) = or(1 / x < 0, x < 0)",
    // log(1 + z), with z / (u - 1) for the rounding of u = 1 + z.
    "log_of_1_and(z) = "
    "  u = z + 1; log = log(u); d = u - 1; y = log * (z / d);"
    "  near = select(z > 16777216, log, y); select(d == 0, z, near)",
    // y(|x|) with the sign of x, and x where it is so small that it equals its function.
    "odd(x, y) = signed = select(x < 0, -y, y); select(abs(x) < 1 / 4096, x, signed)",
    // The other side of a right triangle whose longest one is 1.
    "cathetus(x) = sqrt((1 - x) * (x + 1))",
    // The remainder rounded down, with the sign of the dividend, of integers.
    "remainder(a, b) = "
    "  by_zero = b == 0; by = select(by_zero, 1, b); r = mod(a, by); some = r != 0;"
    "  other = and((a < 0) != (by < 0), some);"
    "  y = select(other, r - by, r); select(by_zero, a, y)",
    // The common bits of i32: a + b = 2 (a & b) + (a ^ b). The sum of two halves has 17 bits.
    "common_of_halves(a, b) = shift_right(a + b - bitwise_xor(a, b), 1)",
    "common(a, b) = "
    "  high = common_of_halves(shift_right(a, 16), shift_right(b, 16));"
    "  low = common_of_halves(mod(a, 65536), mod(b, 65536)); high * 65536 + low",
};

constexpr RuleError kRounds = RuleError::kRounds;

// Several rules of one operator: the cheapest one that leads to operators of the target, and of
// those the first. Formulas to find are those of PyTorch's ONNX exporters, of Hugging Face's
// NewGELU and QuickGELU, and of tf2onnx.
constexpr RuleRow kRows[] = {
    // ---- Arithmetic
    {"product", "squared_difference(a, b) = d = a - b; d * d  where f32|i64"},
    {"quotient", "reciprocal(x) = 1 / x  where f32"},
    {"root", "rsqrt(x) = 1 / sqrt(x)  where f32", kRounds},
    {"maximum", "abs(x) = maximum(x, -x)  where i64"},
    {"sum of two activations", "abs(x) = relu(x) + relu(-x)  where f32"},
    {"negation by multiplication", "neg(x) = x * -1  where f32"},
    {"subtraction by addition", "sub(a, b) = a + b * -1  where f32"},
    // By powers of two, it is exact.
    {"product with a reciprocal",
     "div(a, b) = a * (1 / b)  where f32, abs(1 / b) >= least_normal, abs(1 / b) <= largest",
     kRounds},
    {"product", "pow(x, y) = x  where f32, y == 1"},
    {"product", "pow(x, y) = x * x  where f32, y == 2"},
    {"product", "pow(x, y) = x * (x * x)  where f32, y == 3", kRounds},
    {"maximum of negatives", "minimum(a, b) = -maximum(-a, -b)  where f32"},
    {"mod", "fmod(a, b) = remainder(a, b)  where i32|i64"},
    {"mod",
     "fmod(a, b) = "
     "  cast(remainder(cast(a, to = i32), cast(b, to = i32)), to = dtype)  where i8|i16|u8"},
    {"division of i32",
     "div(a, b) = "
     "  cast(floor_div(cast(a, to = i32), cast(b, to = i32)), to = dtype)  where u8|u16"},
    {"selection", "maximum(a, b) = select(a > b, a, b)  where integer"},
    {"selection", "minimum(a, b) = select(a < b, a, b)  where integer"},
    // Of sizes, so that it is exact; a zero gets the sign of the dividend.
    {"mod",
     "fmod(a, b) = "
     "  r = mod(abs(a), abs(b)); none = r == 0; zero = a * 0;"
     "  signed = select(a < 0, -r, r); select(none, zero, signed)  where f32"},

    // ---- Bits
    {"difference", "bitwise_not(x) = -1 - x  where i32|i64"},
    {"difference",
     "bitwise_not(x) = cast(-1 - cast(x, to = i32), to = dtype)  where i8|i16|u8|u16|u32"},
    {"difference", "bitwise_not(x) = bit_cast(-1 - bit_cast(x, to = i64), to = dtype)  where u64"},
    {"sums", "bitwise_and(a, b) = common(a, b)  where i32"},
    {"sums",
     "bitwise_and(a, b) = "
     "  cast(common(cast(a, to = i32), cast(b, to = i32)), to = dtype)  where u32"},
    {"sums",
     "bitwise_and(a, b) = "
     "  x = cast(a, to = i32); y = cast(b, to = i32);"
     "  cast(common_of_halves(x, y), to = dtype)  where i8|i16|u8|u16"},
    {"sums of words",
     "bitwise_and(a, b) = "
     "  x = bit_cast(a, to = i32); y = bit_cast(b, to = i32);"
     "  bit_cast(common(x, y), to = dtype)  where i64|u64"},
    // a | b = (a & b) + (a ^ b)
    {"sums", "bitwise_or(a, b) = common(a, b) + bitwise_xor(a, b)  where i32"},
    {"sums",
     "bitwise_or(a, b) = "
     "  x = cast(a, to = i32); y = cast(b, to = i32);"
     "  cast(common(x, y) + bitwise_xor(x, y), to = dtype)  where u32"},
    {"sums",
     "bitwise_or(a, b) = "
     "  x = cast(a, to = i32); y = cast(b, to = i32);"
     "  cast(common_of_halves(x, y) + bitwise_xor(x, y), to = dtype)  where i8|i16|u8|u16"},
    {"sums of words",
     "bitwise_or(a, b) = "
     "  x = bit_cast(a, to = i32); y = bit_cast(b, to = i32);"
     "  bit_cast(common(x, y) + bitwise_xor(x, y), to = dtype)  where i64|u64"},
    {"words",
     "bitwise_xor(a, b) = "
     "  x = bit_cast(a, to = i32); y = bit_cast(b, to = i32);"
     "  bit_cast(bitwise_xor(x, y), to = dtype)  where i64|u64"},

    // ---- Comparisons and logic
    {"inequality", "xor(a, b) = a != b  where bool"},
    {"exclusive or", "not_equal(a, b) = xor(a, b)  where bool"},
    {"exclusive or", "equal(a, b) = not(xor(a, b))  where bool"},
    // Only NaN differs from itself.
    {"comparison", "is_nan(x) = x != x  where f32"},
    {"comparison", "is_inf(x) = abs(x) > largest  where f32, detect_negative, detect_positive"},
    {"comparison", "is_inf(x) = x > largest  where f32, detect_negative == 0, detect_positive"},
    {"comparison", "is_inf(x) = x < lowest  where f32, detect_negative, detect_positive == 0"},
    {"comparison", "is_inf(x) = x < x  where f32, detect_negative == 0, detect_positive == 0"},
    {"comparison by size", "equal(a, b) = not(or(a < b, a > b))  where integer"},
    {"comparison by size", "not_equal(a, b) = or(a < b, a > b)  where integer"},
    // NaN is neither less nor greater.
    {"comparison by size",
     "equal(a, b) = not(or(or(or(a < b, a > b), is_nan(a)), is_nan(b)))  where float"},
    {"comparison by size",
     "not_equal(a, b) = or(or(or(a < b, a > b), is_nan(a)), is_nan(b))  where float"},
    {"strict comparison", "greater_equal(a, b) = not(a < b)  where integer"},
    {"strict comparison", "less_equal(a, b) = not(a > b)  where integer"},
    {"strict comparison", "greater_equal(a, b) = or(a > b, a == b)  where float"},
    {"strict comparison", "less_equal(a, b) = or(a < b, a == b)  where float"},

    // ---- Reductions
    {"sum", "reduce_l1(x) = reduce_sum(abs(x), axes = axes, keep_dims = keep_dims)  where f32"},
    {"sum", "reduce_l2(x) = sqrt(reduce_sum(x * x, axes = axes, keep_dims = keep_dims))  where f32",
     kRounds},
    {"sum",
     "reduce_sum_square(x) = reduce_sum(x * x, axes = axes, keep_dims = keep_dims)  where f32"},
    {"sum", "reduce_log_sum(x) = log(reduce_sum(x, axes = axes, keep_dims = keep_dims))  where f32",
     kRounds},
    {"reduction of numbers",
     "reduce_any(x) = "
     "  any = reduce_max(cast(x, to = f32), axes = axes, keep_dims = keep_dims);"
     "  cast(any, to = bool)  where bool"},
    {"reduction of numbers",
     "reduce_all(x) = "
     "  all = reduce_min(cast(x, to = f32), axes = axes, keep_dims = keep_dims);"
     "  cast(all, to = bool)  where bool"},
    {"logic", "reduce_max(x) = reduce_any(x, axes = axes, keep_dims = keep_dims)  where bool"},
    {"logic", "reduce_min(x) = reduce_all(x, axes = axes, keep_dims = keep_dims)  where bool"},
    {"definition",
     "log_softmax(x) = "
     "  below = x - reduce_max(x, axes = [axis], keep_dims = 1);"
     "  below - log(reduce_sum(exp(below), axes = [axis], keep_dims = 1))  where f32",
     kRounds},
    {"maximum of negatives",
     "reduce_min(x) = -reduce_max(-x, axes = axes, keep_dims = keep_dims)  where f32"},

    // ---- Activations
    {"maximum", "relu(x) = maximum(x, 0)  where i8|i16|i32|i64"},
    {"identity", "relu(x) = x  where u8|u16|u32|u64"},
    {"selection", "thresholded_relu(x) = select(x > alpha, x, 0)  where f32"},
    {"selection",
     "shrink(x) = y = select(x > lambd, x - bias, 0); select(x < -lambd, x + bias, y)  where f32"},
    // A sum of relu(x) and slope * min(x, 0) is NaN where the slope is infinite.
    {"selection", "prelu(x, slope) = select(x < 0, x * slope, x)  where f32"},
    // Of the summands, one is 0. -0 becomes +0 where the slope is negative.
    {"sum",
     "prelu(x, slope) = relu(x) + relu(-x) * -slope  where f32, slope >= lowest, slope <= largest"},
    {"sum",
     "leaky_relu(x) = relu(x) + relu(-x) * -alpha  where f32, alpha >= lowest, alpha <= largest"},
    {"two activations",
     "clip(x) = relu(clip(x, min = -1, max = 1))  where f32, min == 0, max == 1"},
    {"maximum and minimum",
     "clip(x) = minimum(maximum(x, min), max)  where f32, min != -inf, max != inf"},
    {"identity", "clip(x) = x  where f32, min == -inf, max == inf"},
    {"maximum", "clip(x) = maximum(x, min)  where f32, min != -inf, max == inf"},
    {"minimum", "clip(x) = minimum(x, max)  where f32, min == -inf, max != inf"},
    {"clip", "hard_sigmoid(x) = clip(x + beta, min = 0, max = 1)  where f32, alpha == 1"},
    {"clip", "hard_sigmoid(x) = clip(x * alpha + beta, min = 0, max = 1)  where f32, alpha != 1"},
    {"product", "hard_swish(x) = x * hard_sigmoid(x, alpha = 1 / 6, beta = 0.5)  where f32",
     kRounds, RuleUse::kBoth, "hard_sigmoid"},
    {"product", "hard_swish(x) = x * clip(x + 3, min = 0, max = 6) / 6  where f32", kRounds,
     RuleUse::kFind, "clip"},
    // One of the summands is 0.
    {"alpha",
     "elu(x) = above = relu(x); elu(minimum(x, 0), alpha = 1) * alpha + above"
     "  where f32, alpha > 0, alpha != 1"},
    {"alpha", "selu(x) = elu(x, alpha = alpha) * gamma  where f32"},
    {"alpha",
     "celu(x) = above = relu(x); elu(minimum(x, 0) / alpha, alpha = 1) * alpha + above"
     "  where f32, alpha > 0"},
    // x above 0 remains, and the function below 0 is that of -alpha multiplied by e^(x / alpha).
    {"alpha",
     "celu(x) = y = elu(x / -alpha, alpha = 1) * -alpha; y * exp(relu(x / alpha))"
     "  where f32, alpha < 0",
     kRounds},
    {"product", "silu(x) = gate = sigmoid(x); finite(x) * gate  where f32", kRounds, RuleUse::kBoth,
     "sigmoid"},
    {"product", "mish(x) = gate = tanh(softplus(x)); finite(x) * gate  where f32", kRounds,
     RuleUse::kBoth, "softplus"},
    {"product", "mish(x) = x * tanh(log(exp(x) + 1))  where f32", kRounds, RuleUse::kFind, "log"},
    {"logarithm", "softplus(x) = log(exp(x) + 1)  where f32", kRounds, RuleUse::kFind, "log"},
    {"softplus", "log_sigmoid(x) = -softplus(-x)  where float", RuleError::kExact, RuleUse::kBoth,
     "softplus"},
    {"logarithm", "log_sigmoid(x) = log(sigmoid(x))  where float", kRounds, RuleUse::kFind, "log"},
    // Equal infinities have no difference.
    {"softplus",
     "log_add_exp(a, b) = d = select(a == b, 0, a - b); softplus(-abs(d)) + maximum(a, b)"
     "  where float",
     kRounds},
    {"logarithm", "log_add_exp(a, b) = log(exp(a) + exp(b))  where float", kRounds, RuleUse::kFind,
     "log"},
    // Does not overflow.
    {"logarithm", "softplus(x) = above = relu(x); log(exp(-abs(x)) + 1) + above  where f32",
     kRounds},
    {"quotient",
     "softsign(x) = c = clip(x, min = lowest, max = largest); c / (abs(c) + 1)  where f32", kRounds,
     RuleUse::kBoth, "abs"},
    {"sigmoid",
     "gelu(x) = gate = sigmoid(x * 1.702); finite(x) * gate  where f32, approximate == sigmoid",
     kRounds, RuleUse::kBoth, "sigmoid"},
    {"erf",
     "gelu(x) = x * 0.5 * (erf(x * 0.70710678118654752) + 1)  where f32, approximate == none",
     kRounds, RuleUse::kFind, "erf"},
    {"tanh",
     "gelu(x) = "
     "  x * 0.5 * (tanh((x + x * x * x * 0.044715) * 0.79788456080286536) + 1)"
     "  where f32, approximate == tanh",
     kRounds, RuleUse::kFind, "tanh"},
    {"tanh",
     "gelu(x) = "
     "  x * 0.5 * (tanh(x * (x * x * 0.044715 + 1) * 0.79788456080286536) + 1)"
     "  where f32, approximate == tanh",
     kRounds, RuleUse::kFind, "tanh"},

    // ---- Functions
    {"elementary functions", "exp2(x) = pow(2, x)  where f32", kRounds},
    {"elementary functions", "tan(x) = sin(x) / cos(x)  where f32", kRounds},
    {"elementary functions", "asin(x) = atan2(x, cathetus(x))  where f32", kRounds},
    {"elementary functions", "acos(x) = atan2(cathetus(x), x)  where f32", kRounds},
    {"elementary functions", "atan(x) = atan2(x, 1)  where f32", kRounds},
    // atan(|y / x|) in the quadrant of the point. Equal sides are 0 / 0 or infinite.
    {"quotient",
     "atan2(y, x) = "
     "  h = abs(y); w = abs(x); slope = atan(h / w);"
     "  diagonal = h == w; corner = select(h > 0, pi / 4, h);"
     "  acute = select(diagonal, corner, slope);"
     "  left = is_negative(x); below = is_negative(y);"
     "  angle = select(left, pi - acute, acute); select(below, -angle, angle)  where f32",
     kRounds},
    // e^|x| / 2 in two factors, of which only the product overflows.
    {"elementary functions",
     "cosh(x) = h = exp(abs(x) * 0.5); h * 0.5 * h + 0.5 / h / h  where f32", kRounds},
    // The Taylor series below 1, where the difference of exponentials loses digits.
    {"elementary functions",
     "sinh(x) = "
     "  h = exp(abs(x) * 0.5); size = h * 0.5 * h - 0.5 / h / h;"
     "  large = select(x < 0, -size, size); s = x * x;"
     "  sum = (((s * (1 / 362880) + 1 / 5040) * s + 1 / 120) * s + 1 / 6) * s * x;"
     "  series = x + sum; select(abs(x) < 1, series, large)  where f32",
     kRounds},
    // log(1 + a + a^2 / (1 + sqrt(1 + a^2))) with a = |x|; log(a) + log(2) where a^2 could
    // overflow.
    {"elementary functions",
     "asinh(x) = "
     "  a = abs(x); s = a * a; near = log_of_1_and(a + s / (sqrt(s + 1) + 1));"
     "  far = log(a) + 0.693147180559945; y = select(a > 16384, far, near); odd(x, y)  where f32",
     kRounds},
    // log(1 + t + sqrt(t) sqrt(t + 2)) with t = x - 1; log(x) + log(2) for large x.
    {"elementary functions",
     "acosh(x) = "
     "  t = x - 1; near = log_of_1_and(t + sqrt(t) * sqrt(t + 2));"
     "  far = log(x) + 0.693147180559945; select(x > 16384, far, near)  where f32",
     kRounds},
    // log(1 + 2 a / (1 - a)) / 2 with a = |x|.
    {"elementary functions",
     "atanh(x) = "
     "  a = abs(x); rest = 1 - a; y = log_of_1_and((a + a) / rest) * 0.5; odd(x, y)  where f32",
     kRounds},
    // Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: for x >= 0,
    //   erf(x) = 1 - (a1 t + ... + a5 t^5) e^(-x^2) + r with t = 1 / (1 + p x) and |r| <= 1.5e-7
    {"polynomial",
     "erf(x) = "
     "  sign = sign(x); bell = exp(-(x * x)); t = 1 / (abs(x) * 0.3275911 + 1);"
     "  sum = ((((t * 1.061405429 + -1.453152027) * t + 1.421413741) * t + -0.284496736) * t"
     "         + 0.254829592) * t;"
     "  (1 - sum * bell) * sign  where f32",
     kRounds},
    // Halves to even: floor, and 1 if the rest is more than a half, or a half above an odd number.
    // Zeros become +0.
    {"floor",
     "round(x) = "
     "  down = floor(x); rest = x - down; half = down * 0.5; odd = half - floor(half) > 0;"
     "  above = rest > 0.5; tie = and(not(rest < 0.5), odd);"
     "  down + cast(or(above, tie), to = f32)  where f32"},
};

[[noreturn]] void Abort(const Error& error) {
  fmt::print(stderr, "{}\n", error.message());
  std::abort();
}

std::vector<Formula> ParseHelpers() {
  std::vector<Formula> out;
  for (const std::string_view text : kHelpers) {
    auto helper = Formula::ParseHelper(text, out);
    if (!helper) Abort(helper.error());
    out.push_back(*std::move(helper));
  }
  return out;
}

std::vector<FormulaRule> ParseRows() {
  const std::vector<Formula> helpers = ParseHelpers();
  std::vector<FormulaRule> out;
  for (const RuleRow& row : kRows) {
    auto formula = Formula::Parse(row.text, helpers);
    if (!formula) Abort(formula.error());
    out.push_back({row, *std::move(formula)});
  }
  return out;
}

}  // namespace

std::span<const RuleRow> RuleRows() {
  return kRows;
}

std::span<const std::string_view> RuleHelpers() {
  return kHelpers;
}

std::span<const FormulaRule> FormulaRules() {
  static const std::vector<FormulaRule> rules = ParseRows();
  return rules;
}

std::span<const FormulaRule* const> RulesOf(std::string_view op) {
  static const auto by_op = [] {
    std::map<std::string_view, std::vector<const FormulaRule*>> out;
    for (const FormulaRule& rule : FormulaRules())
      if (rule.row.use != RuleUse::kFind) out[rule.formula.op()].push_back(&rule);
    return out;
  }();
  const auto it = by_op.find(op);
  return it == by_op.end() ? std::span<const FormulaRule* const>() : it->second;
}

}  // namespace nn
