#include "ops/math/elementwise/unary_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "numeric/double_functions.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn {
namespace {

// The specification fixes the zero point of sigmoid and the scale of tanh as i8, the kernels do
// not.
constexpr FixedQuant kSigmoidQuants[] = {
    {.x = DType::kU8,
     .y = DType::kU8,
     .scale = 1.0f / 256,
     .zero_point = 0,
     .any_zero_point = true},
    {.x = DType::kI8,
     .y = DType::kI8,
     .scale = 1.0f / 256,
     .zero_point = -128,
     .any_zero_point = true},
    {.x = DType::kI16, .y = DType::kI16, .scale = 1.0f / 32768, .zero_point = 0}};
constexpr FixedQuant kTanhQuants[] = {
    {.x = DType::kI8,
     .y = DType::kI8,
     .scale = 1.0f / 128,
     .zero_point = 0,
     .any_scale = true,
     .any_zero_point = true},
    {.x = DType::kI16, .y = DType::kI16, .scale = 1.0f / 32768, .zero_point = 0, .slack = 0.001f}};

using P = const FunctionParams&;

double Clamp(double x, double low, double high) {
  const double y = low > x ? low : x;
  return high < y ? high : y;
}

// x y, where y vanishes faster than x grows.
double TimesAtMinusInfinity(double x, double y) {
  return std::isinf(x) && x < 0 ? -0.0 : x * y;
}

double Celu(double x, double alpha) {
  const double y = alpha * float64::Expm1(x / alpha);
  const double positive = 0.0 > x ? 0.0 : x;
  return positive + (0.0 < y ? 0.0 : y);
}

// `formula`: in the order of GeluApproximation.
double Gelu(double x, float formula) {
  if (formula == 0)
    return TimesAtMinusInfinity(x, float64::Erfc(-x * (std::numbers::sqrt2 / 2)) / 2);
  if (formula == 1) {
    constexpr double kFactor = std::numbers::inv_sqrtpi * std::numbers::sqrt2;
    // (1 + tanh z) / 2
    return TimesAtMinusInfinity(x, float64::Sigmoid(2 * kFactor * (x + 0.044715 * (x * x * x))));
  }
  return TimesAtMinusInfinity(x, float64::Sigmoid(1.702 * x));
}

struct AbsInt {
  template <typename T>
  static T Run(T x, P, int) {
    if constexpr (std::is_signed_v<T>) return x < 0 ? WrapSub<T>(0, x) : x;
    return x;
  }
};
struct NegInt {
  template <typename T>
  static T Run(T x, P, int) {
    return WrapSub<T>(0, x);
  }
};
struct SignInt {
  template <typename T>
  static T Run(T x, P, int) {
    return static_cast<T>((x > 0) - (x < 0));
  }
};
struct ReluInt {
  template <typename T>
  static T Run(T x, P, int) {
    return x > 0 ? x : 0;
  }
};
// A bound of a clip as an integer of a type: truncated, and saturated to the range of the type.
template <typename T>
T ClipBoundAs(float v, int bits) {
  const int value_bits = bits - (std::is_signed_v<T> ? 1 : 0);
  const T high = value_bits == 64 ? std::numeric_limits<T>::max()
                                  : static_cast<T>((uint64_t{1} << value_bits) - 1);
  const T low = std::is_signed_v<T> ? static_cast<T>(~high) : T{0};
  if (!(v > static_cast<float>(low))) return low;
  return v < std::ldexp(1.0f, value_bits) ? static_cast<T>(v) : high;
}

struct ClipInt {
  template <typename T>
  static T Run(T x, P p, int bits) {
    return std::min(ClipBoundAs<T>(p[1], bits), std::max(ClipBoundAs<T>(p[0], bits), x));
  }
};
struct ShrinkInt {
  template <typename T>
  static T Run(T x, P p, int) {
    const auto v = static_cast<long double>(x);
    if (v < -p[1]) return static_cast<T>(v + p[0]);
    return v > p[1] ? static_cast<T>(v - p[0]) : 0;
  }
};

std::optional<Dim> MagnitudeDim(const Dim& d) {
  if (!d.is_const()) return std::nullopt;
  return d.value() < 0 ? d * Dim(-1) : d;
}
std::optional<Dim> NegDim(const Dim& d) {
  return d * Dim(-1);
}
std::optional<Dim> ReluDim(const Dim& d) {
  return Dim::Max(d, Dim(0));
}

}  // namespace

const std::vector<UnaryRow>& UnaryRows() {
  static const UnaryFacts plain, rising = {RisingRange};
  constexpr Category arithmetic = Category::kArithmetic;
  constexpr Category activation = Category::kActivation;
  static const AttrsInfo* const none = AttrsInfoOf<NoAttrs>();
  static const AttrsInfo* const alpha = AttrsInfoOf<AlphaAttrs>();
  static const std::vector<UnaryRow> rows = {
      // Exact, or one rounding.
      {"abs",
       "|x|",
       arithmetic,
       none,
       UnaryFacts{.range = MagnitudeRange, .dim = MagnitudeDim},
       [](double x, P) { return std::fabs(x); },
       IntegersOf1<AbsInt>(),
       {{"mil", "abs", 1, {}},
        {"onnx", "Abs", 1, {}},
        {"tflite", "ABS", 1, {}},
        {"coreml", "unary.ABS", 1, {}}}},
      {"neg",
       "-x",
       arithmetic,
       none,
       UnaryFacts{.range = NegRange, .dim = NegDim},
       [](double x, P) { return -x; },
       IntegersOf1<NegInt>(),
       {{"onnx", "Neg", 1, {}}, {"tflite", "NEG", 1, {}}}},
      {"sign",
       "-1, 0 or 1",
       arithmetic,
       none,
       rising,
       [](double x, P) { return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0)); },
       IntegersOf1<SignInt>(),
       {{"mil", "sign", 1, {}},
        {"onnx", "Sign", 9, {}},
        {"tflite", "SIGN", 1, {}},
        {"coreml", "sign", 1, {}}}},
      {"floor",
       "the largest integer not above x",
       arithmetic,
       none,
       rising,
       [](double x, P) { return std::floor(x); },
       {},
       {{"mil", "floor", 1, {}},
        {"onnx", "Floor", 1, {}},
        {"tflite", "FLOOR", 1, {}},
        {"coreml", "floor", 1, {}},
        {"nnapi", "FLOOR", 1, {}}}},
      {"ceil",
       "the smallest integer not below x",
       arithmetic,
       none,
       rising,
       [](double x, P) { return std::ceil(x); },
       {},
       {{"mil", "ceil", 1, {}},
        {"onnx", "Ceil", 1, {}},
        {"tflite", "CEIL", 1, {}},
        {"coreml", "ceil", 1, {}}}},
      {"round",
       "the nearest integer, halves to even",
       arithmetic,
       none,
       rising,
       [](double x, P) { return std::nearbyint(x); },
       {},
       {{"mil", "round", 1, {}},
        {"onnx", "Round", 11, {}},
        {"tflite", "ROUND", 1, {}},
        {"coreml", "round", 1, {}}}},
      {"round_bf16",
       "rounds to the nearest bfloat16; the executor inserts it where it computes bfloat16 in "
       "float32",
       arithmetic,
       none,
       plain,
       nullptr,
       {},
       {}},
      {"round_f16",
       "rounds to the nearest float16; the executor inserts it where it computes float16 in "
       "float32",
       arithmetic,
       none,
       plain,
       nullptr,
       {},
       {}},
      {"sqrt",
       "square root",
       arithmetic,
       none,
       UnaryFacts{RisingRange, RealDomain{.min = 0}},
       [](double x, P) { return std::sqrt(x); },
       {},
       {{"mil", "sqrt", 1, {}},
        {"onnx", "Sqrt", 1, {}},
        {"tflite", "SQRT", 1, {}},
        {"coreml", "unary.SQRT", 1, {}}}},
      {"rsqrt",
       "1 / sqrt(x), in two roundings",
       arithmetic,
       none,
       UnaryFacts{RsqrtRange, RealDomain{.min = 0, .poles = true}},
       [](double x, P) { return 1.0 / std::sqrt(x); },
       {},
       {{"tflite", "RSQRT", 1, {}}}},
      {"reciprocal",
       "1 / x",
       arithmetic,
       none,
       UnaryFacts{ReciprocalRange},
       [](double x, P) { return 1.0 / x; },
       {},
       {{"onnx", "Reciprocal", 1, {}}}},

      // Piecewise linear.
      {"relu",
       "max(0, x)",
       activation,
       none,
       UnaryFacts{.range = RisingRange, .dim = ReluDim},
       [](double x, P) { return 0.0 > x ? 0.0 : x; },
       IntegersOf1<ReluInt>(),
       {{"mil", "relu", 1, {}},
        {"onnx", "Relu", 1, {}},
        {"tflite", "RELU", 1, {}},
        {"coreml", "activation.ReLU", 1, {}},
        {"nnapi", "RELU", 1, {}}},
       [](const Node&) {
         return Interval{0, std::numeric_limits<float>::infinity()};
       }},
      {"clip",
       "min(max, max(min, x))",
       activation,
       AttrsInfoOf<ClipAttrs>(),
       rising,
       [](double x, P p) { return Clamp(x, p[0], p[1]); },
       IntegersOf1<ClipInt>(),
       {{"mil", "clip", 1, {{"min", "alpha"}, {"max", "beta"}}},
        {"coreml", "clip", 1, {{"min", "minVal"}, {"max", "maxVal"}}}},
       [](const Node& node) {
         const auto& a = node.attrs<ClipAttrs>();
         return Interval{a.min, a.max};
       }},
      {"leaky_relu",
       "x < 0 ? alpha * x : x",
       activation,
       AttrsInfoOf<LeakyReluAttrs>(),
       UnaryFacts{LeakyReluRange},
       [](double x, P p) { return x < 0 ? x * p[0] : x; },
       {},
       {{"mil", "leaky_relu", 1, {{"alpha", "alpha"}}},
        {"onnx", "LeakyRelu", 1, {{"alpha", "alpha"}}},
        {"tflite", "LEAKY_RELU", 1, {{"alpha", "alpha"}}},
        {"coreml", "activation.leakyReLU", 1, {{"alpha", "alpha"}}}}},
      {"thresholded_relu",
       "x > alpha ? x : 0",
       activation,
       alpha,
       plain,
       [](double x, P p) { return x > p[0] ? x : 0.0; },
       {},
       {{"onnx", "ThresholdedRelu", 10, {{"alpha", "alpha"}}}}},
      {"hard_sigmoid",
       "max(0, min(1, alpha * x + beta))",
       activation,
       AttrsInfoOf<HardSigmoidAttrs>(),
       UnaryFacts{UnitRange},
       [](double x, P p) { return Clamp(std::fma(x, p[0], p[1]), 0, 1); },
       {},
       {{"mil", "sigmoid_hard", 1, {{"alpha", "alpha"}, {"beta", "beta"}}},
        {"onnx", "HardSigmoid", 1, {{"alpha", "alpha"}, {"beta", "beta"}}},
        {"coreml", "activation.sigmoidHard", 1, {{"alpha", "alpha"}, {"beta", "beta"}}}}},
      {"hard_swish",
       "x * max(0, min(1, x / 6 + 0.5))",
       activation,
       none,
       plain,
       [](double x, P) { return x * Clamp(std::fma(x, 1.0 / 6.0, 0.5), 0, 1); },
       {},
       {{"onnx", "HardSwish", 14, {}}, {"tflite", "HARD_SWISH", 1, {}}}},
      {"shrink",
       "x < -lambd ? x + bias : x > lambd ? x - bias : 0",
       activation,
       AttrsInfoOf<ShrinkAttrs>(),
       plain,
       [](double x, P p) {
         if (x < -p[1]) return x + p[0];
         return x > p[1] ? x - p[0] : 0.0;
       },
       IntegersOf1<ShrinkInt>(),
       {{"onnx", "Shrink", 9, {{"bias", "bias"}, {"lambd", "lambd"}}}}},
      {"softsign",
       "x / (1 + |x|)",
       activation,
       none,
       rising,
       [](double x, P) { return std::isinf(x) ? std::copysign(1.0, x) : x / (1 + std::fabs(x)); },
       {},
       {{"mil", "softsign", 1, {}},
        {"onnx", "Softsign", 1, {}},
        {"coreml", "activation.softsign", 1, {}}}},

      // Exponentials and logarithms.
      {"exp",
       "e to the power x",
       arithmetic,
       none,
       rising,
       [](double x, P) { return float64::Exp(x); },
       {},
       {{"mil", "exp", 1, {}},
        {"onnx", "Exp", 1, {}},
        {"tflite", "EXP", 1, {}},
        {"coreml", "unary.EXP", 1, {}}}},
      {"exp2",
       "2 to the power x",
       arithmetic,
       none,
       rising,
       [](double x, P) { return float64::Exp2(x); },
       {},
       {{"mil", "exp2", 1, {}}, {"coreml", "exp2", 1, {}}}},
      {"expm1",
       "e to the power x, minus 1",
       arithmetic,
       none,
       rising,
       [](double x, P) { return float64::Expm1(x); },
       {},
       {}},
      {"log",
       "natural logarithm",
       arithmetic,
       none,
       UnaryFacts{RisingRange, RealDomain{.min = 0, .poles = true}},
       [](double x, P) { return float64::Log(x); },
       {},
       {{"onnx", "Log", 1, {}}, {"tflite", "LOG", 1, {}}, {"coreml", "unary.LOG", 1, {}}}},
      {"log1p",
       "natural logarithm of 1 + x",
       arithmetic,
       none,
       UnaryFacts{RisingRange, RealDomain{.min = -1, .poles = true}},
       [](double x, P) { return float64::Log1p(x); },
       {},
       {}},
      {"sigmoid",
       "1 / (1 + e^-x)",
       activation,
       none,
       UnaryFacts{RisingRange, std::nullopt, kSigmoidQuants},
       [](double x, P) { return float64::Sigmoid(x); },
       {},
       {{"mil", "sigmoid", 1, {}},
        {"onnx", "Sigmoid", 1, {}},
        {"tflite", "LOGISTIC", 1, {}},
        {"coreml", "activation.sigmoid", 1, {}},
        {"nnapi", "LOGISTIC", 1, {}}}},
      {"log_sigmoid",
       "log(1 / (1 + e^-x))",
       activation,
       none,
       rising,
       [](double x, P) { return -float64::Softplus(-x); },
       {},
       {}},
      {"silu",
       "x / (1 + e^-x)",
       activation,
       none,
       plain,
       [](double x, P) { return TimesAtMinusInfinity(x, float64::Sigmoid(x)); },
       {},
       {{"mil", "silu", 1, {}}}},
      {"softplus",
       "log(1 + e^x)",
       activation,
       none,
       rising,
       [](double x, P) { return float64::Softplus(x); },
       {},
       {{"mil", "softplus", 1, {}},
        {"onnx", "Softplus", 1, {}},
        {"coreml", "activation.softplus", 1, {}}}},
      {"mish",
       "x * tanh(log(1 + e^x))",
       activation,
       none,
       plain,
       [](double x, P) { return TimesAtMinusInfinity(x, float64::Tanh(float64::Softplus(x))); },
       {},
       {{"onnx", "Mish", 18, {}}}},
      {"elu",
       "x < 0 ? alpha * (e^x - 1) : x",
       activation,
       alpha,
       plain,
       [](double x, P p) { return x < 0 ? p[0] * float64::Expm1(x) : x; },
       {},
       {{"mil", "elu", 1, {{"alpha", "alpha"}}},
        {"onnx", "Elu", 1, {{"alpha", "alpha"}}},
        {"coreml", "activation.ELU", 1, {{"alpha", "alpha"}}}}},
      {"selu",
       "gamma * (x > 0 ? x : alpha * (e^x - 1))",
       activation,
       AttrsInfoOf<SeluAttrs>(),
       plain,
       [](double x, P p) { return p[1] * (x > 0 ? x : p[0] * float64::Expm1(x)); },
       {},
       {{"onnx", "Selu", 6, {{"alpha", "alpha"}, {"gamma", "gamma"}}}}},
      {"celu",
       "max(0, x) + min(0, alpha * (e^(x / alpha) - 1))",
       activation,
       alpha,
       plain,
       [](double x, P p) { return Celu(x, p[0]); },
       {},
       {{"onnx", "Celu", 12, {{"alpha", "alpha"}}}}},

      // Trigonometry, circular and hyperbolic.
      {"sin",
       "sine",
       arithmetic,
       none,
       UnaryFacts{SignedUnitRange},
       [](double x, P) { return float64::Sin(x); },
       {},
       {{"mil", "sin", 1, {}},
        {"onnx", "Sin", 7, {}},
        {"tflite", "SIN", 1, {}},
        {"coreml", "sin", 1, {}}}},
      {"cos",
       "cosine",
       arithmetic,
       none,
       UnaryFacts{SignedUnitRange},
       [](double x, P) { return float64::Cos(x); },
       {},
       {{"mil", "cos", 1, {}},
        {"onnx", "Cos", 7, {}},
        {"tflite", "COS", 1, {}},
        {"coreml", "cos", 1, {}}}},
      {"tan",
       "tangent",
       arithmetic,
       none,
       plain,
       [](double x, P) { return float64::Tan(x); },
       {},
       {{"mil", "tan", 1, {}}, {"onnx", "Tan", 7, {}}, {"coreml", "tan", 1, {}}}},
      {"asin",
       "inverse sine",
       arithmetic,
       none,
       UnaryFacts{RisingRange, RealDomain{.min = -1, .max = 1}},
       [](double x, P) { return float64::Asin(x); },
       {},
       {{"mil", "asin", 1, {}}, {"onnx", "Asin", 7, {}}, {"coreml", "asin", 1, {}}}},
      {"acos",
       "inverse cosine",
       arithmetic,
       none,
       UnaryFacts{nullptr, RealDomain{.min = -1, .max = 1}},
       [](double x, P) { return float64::Acos(x); },
       {},
       {{"mil", "acos", 1, {}}, {"onnx", "Acos", 7, {}}, {"coreml", "acos", 1, {}}}},
      {"atan",
       "inverse tangent",
       arithmetic,
       none,
       rising,
       [](double x, P) { return float64::Atan(x); },
       {},
       {{"mil", "atan", 1, {}}, {"onnx", "Atan", 7, {}}, {"coreml", "atan", 1, {}}}},
      {"sinh",
       "hyperbolic sine",
       arithmetic,
       none,
       rising,
       [](double x, P) { return float64::Sinh(x); },
       {},
       {{"mil", "sinh", 1, {}}, {"onnx", "Sinh", 9, {}}, {"coreml", "sinh", 1, {}}}},
      {"cosh",
       "hyperbolic cosine",
       arithmetic,
       none,
       plain,
       [](double x, P) { return float64::Cosh(x); },
       {},
       {{"mil", "cosh", 1, {}}, {"onnx", "Cosh", 9, {}}, {"coreml", "cosh", 1, {}}}},
      {"tanh",
       "hyperbolic tangent",
       activation,
       none,
       UnaryFacts{RisingRange, std::nullopt, kTanhQuants},
       [](double x, P) { return float64::Tanh(x); },
       {},
       {{"mil", "tanh", 1, {}},
        {"onnx", "Tanh", 1, {}},
        {"tflite", "TANH", 1, {}},
        {"coreml", "activation.tanh", 1, {}},
        {"coreml", "tanh", 1, {}},
        {"nnapi", "TANH", 1, {}}}},
      {"asinh",
       "inverse hyperbolic sine",
       arithmetic,
       none,
       rising,
       [](double x, P) { return float64::Asinh(x); },
       {},
       {{"onnx", "Asinh", 9, {}}, {"coreml", "asinh", 1, {}}}},
      {"acosh",
       "inverse hyperbolic cosine",
       arithmetic,
       none,
       UnaryFacts{RisingRange, RealDomain{.min = 1}},
       [](double x, P) { return float64::Acosh(x); },
       {},
       {{"onnx", "Acosh", 9, {}}, {"coreml", "acosh", 1, {}}}},
      {"atanh",
       "inverse hyperbolic tangent",
       arithmetic,
       none,
       UnaryFacts{RisingRange, RealDomain{.min = -1, .max = 1, .poles = true}},
       [](double x, P) { return float64::Atanh(x); },
       {},
       {{"mil", "atanh", 1, {}}, {"onnx", "Atanh", 9, {}}, {"coreml", "atanh", 1, {}}}},

      // The normal distribution.
      {"erf",
       "error function",
       activation,
       none,
       rising,
       [](double x, P) { return float64::Erf(x); },
       {},
       {{"mil", "erf", 1, {}}, {"onnx", "Erf", 9, {}}, {"coreml", "erf", 1, {}}}},
      {"gelu",
       "x times the normal distribution function, or an approximation of it",
       activation,
       AttrsInfoOf<GeluAttrs>(),
       plain,
       [](double x, P p) { return Gelu(x, p[0]); },
       {},
       {{"onnx", "Gelu", 20, {{"approximate", "approximate"}}}}},
  };
  return rows;
}

const UnaryRow& UnaryRowOf(const Node& node) {
  static const auto index = [] {
    std::map<std::string_view, const UnaryRow*> m;
    for (const UnaryRow& row : UnaryRows()) m[row.name] = &row;
    return m;
  }();
  return *index.at(node.op_name());
}

int64_t ClipBound(DType dtype, float v) {
  const int bits = DTypeBits(dtype);
  return IsSigned(dtype) ? ClipBoundAs<int64_t>(v, bits)
                         : static_cast<int64_t>(ClipBoundAs<uint64_t>(v, bits));
}

}  // namespace nn
