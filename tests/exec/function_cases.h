// The unary functions of numeric/functions.h, their definitions in double precision, and the
// accepted errors. A function without a row here is rounded once from the double function of its
// operator.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "base/half.h"
#include "numeric/functions.h"
#include "ops/math/elementwise/unary_rows.h"

namespace nn::test {

struct FunctionCase {
  const char* name;
  // Largest error in units in the last place, as documented; `bound` is the requirement.
  double limit;
  std::function<double(double)> want;
  FunctionParams params = {};
  double bound = 2;
};

// x f(x) at minus infinity, where f goes to 0 faster than x grows.
inline double OrZero(double x, double y) {
  return x == -std::numeric_limits<double>::infinity() ? -0.0 : y;
}
inline double Sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
inline double Softplus(double x) {
  return x > 40 ? x : std::log1p(std::exp(x));
}
inline double Gelu(double x) {
  return OrZero(x, x / 2 * std::erfc(-x / std::sqrt(2.0)));
}
inline double GeluTanh(double x) {
  return OrZero(x, x * Sigmoid(2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}
inline double Selu(double x) {
  return double{1.0507009873554805f} * (x > 0 ? x : double{1.6732632423543772f} * std::expm1(x));
}
// A line with its product and its sum rounded: that is its definition (docs/spec/arithmetic.md,
// rule 6). The sum of two floats in double precision is rounded once more without harm.
inline double Line(double x, float slope, float shift) {
  const auto product = static_cast<float>(x * double{slope});
  const auto sum = static_cast<float>(double{product} + double{shift});
  return std::isnan(x) ? x : std::fmin(1, std::fmax(0, double{sum}));
}

// Of functions that are computed in double precision and rounded once.
inline constexpr double kOnce = 0.501;

inline const FunctionCase kFunctions[] = {
    // Rounded once, or not at all.
    {"abs", 0, [](double x) { return std::fabs(x); }},
    {"ceil", 0, [](double x) { return std::ceil(x); }},
    {"clip", 0, [](double x) { return x < -1.5 ? -1.5
                                      : x > 6  ? 6
                                               : x; }, {-1.5f, 6.0f}},
    {"floor", 0, [](double x) { return std::floor(x); }},
    {"hard_sigmoid", 0, [](double x) { return Line(x, 0.2f, 0.5f); }, {0.2f, 0.5f}},
    {"hard_swish", 0.5, [](double x) { return x * Line(x, 1.0f / 6.0f, 0.5f); }},
    {"leaky_relu", 0.5, [](double x) { return x < 0 ? x * double{0.01f} : x; }, {0.01f}},
    {"neg", 0, [](double x) { return -x; }},
    {"reciprocal", 0.5, [](double x) { return 1 / x; }},
    {"relu", 0, [](double x) { return x < 0 ? 0 : x; }},
    {"round", 0, [](double x) { return std::nearbyint(x); }},
    {"round_bf16", 0,
     [](double x) { return double{Bfloat16ToFloat(FloatToBfloat16(static_cast<float>(x)))}; }},
    {"round_f16", 0,
     [](double x) { return double{HalfToFloat(FloatToHalf(static_cast<float>(x)))}; }},
    {"shrink",
     0.5,
     [](double x) { return x > 0.5    ? x - 0.25
                           : x < -0.5 ? x + 0.25
                                      : 0; },
     {0.25f, 0.5f}},
    {"sign", 0, [](double x) { return x > 0   ? 1
                                      : x < 0 ? -1
                                              : x; }},
    {"sqrt", 0.5, [](double x) { return std::sqrt(x); }, {}, 1},
    {"thresholded_relu", 0, [](double x) { return x > 1.5 ? x : 0; }, {1.5f}},
    // Of several steps. The exponential linear units have a factor of 1 here.
    {"acos", kOnce, [](double x) { return std::acos(x); }, {}, kOnce},
    {"acosh", kOnce, [](double x) { return std::acosh(x); }, {}, kOnce},
    {"asin", kOnce, [](double x) { return std::asin(x); }, {}, kOnce},
    {"asinh", kOnce, [](double x) { return std::asinh(x); }, {}, kOnce},
    {"atan", kOnce, [](double x) { return std::atan(x); }, {}, kOnce},
    {"atanh", kOnce, [](double x) { return std::atanh(x); }, {}, kOnce},
    {"celu", kOnce, [](double x) { return x > 0 ? x : std::expm1(x); }, {1.0f}, kOnce},
    {"cos", kOnce, [](double x) { return std::cos(x); }, {}, kOnce},
    {"cosh", kOnce, [](double x) { return std::cosh(x); }, {}, kOnce},
    {"elu", kOnce, [](double x) { return x < 0 ? std::expm1(x) : x; }, {1.0f}, kOnce},
    {"erf", kOnce, [](double x) { return std::erf(x); }, {}, kOnce},
    {"exp", kOnce, [](double x) { return std::exp(x); }, {}, kOnce},
    {"exp2", kOnce, [](double x) { return std::exp2(x); }, {}, kOnce},
    {"expm1", kOnce, [](double x) { return std::expm1(x); }, {}, kOnce},
    {"gelu", kOnce, Gelu, {0.0f}, kOnce},
    {"gelu", kOnce, GeluTanh, {1.0f}, kOnce},
    {"gelu", kOnce, [](double x) { return OrZero(x, x * Sigmoid(1.702 * x)); }, {2.0f}, kOnce},
    {"log", kOnce, [](double x) { return std::log(x); }, {}, kOnce},
    {"log1p", kOnce, [](double x) { return std::log1p(x); }, {}, kOnce},
    {"mish", kOnce, [](double x) { return OrZero(x, x * std::tanh(Softplus(x))); }, {}, kOnce},
    {"rsqrt", 1.5, [](double x) { return 1 / std::sqrt(x); }},
    // Expm1 and two products, each rounded.
    {"selu", 1.9, Selu, {1.6732632423543772f, 1.0507009873554805f}},
    {"sigmoid", kOnce, Sigmoid, {}, kOnce},
    {"silu", kOnce, [](double x) { return OrZero(x, x * Sigmoid(x)); }, {}, kOnce},
    {"sin", kOnce, [](double x) { return std::sin(x); }, {}, kOnce},
    {"sinh", kOnce, [](double x) { return std::sinh(x); }, {}, kOnce},
    {"softplus", kOnce, Softplus, {}, kOnce},
    {"softsign", 1.5,
     [](double x) { return std::isinf(x) ? std::copysign(1, x) : x / (1 + std::fabs(x)); }},
    {"tan", kOnce, [](double x) { return std::tan(x); }, {}, kOnce},
    {"tanh", kOnce, [](double x) { return std::tanh(x); }, {}, kOnce},
};

inline const std::vector<FunctionCase>& FunctionCases() {
  static const std::vector<FunctionCase> cases = [] {
    std::vector<FunctionCase> all(std::begin(kFunctions), std::end(kFunctions));
    const auto has = [&](std::string_view name) {
      return std::ranges::any_of(all, [&](const FunctionCase& f) { return f.name == name; });
    };
    for (const UnaryRow& row : UnaryRows())
      if (row.f64 != nullptr && row.attrs == AttrsInfoOf<NoAttrs>() && !has(row.name))
        all.push_back({row.name.data(), kOnce, [f = row.f64](double x) { return f(x, {}); }});
    return all;
  }();
  return cases;
}

// |got - want| in units in the last place of want's binade; 2^128 represents infinity.
inline double ErrorInUlp(double want, float got) {
  constexpr double kBeyond = 0x1p128;
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : std::numeric_limits<double>::infinity();
  const double target = want > kBeyond ? kBeyond : want < -kBeyond ? -kBeyond : want;
  const double is = std::isinf(got) ? std::copysign(kBeyond, got) : static_cast<double>(got);
  // 2^(23 - e) for |target| in [2^e, 2^(e + 1)), e from -126 to 127.
  const uint64_t field = std::bit_cast<uint64_t>(target) >> 52 & 0x7FF;
  const uint64_t exponent = field < 1023 - 126   ? 1023 - 126
                            : field > 1023 + 127 ? 1023 + 127
                                                 : field;
  const double scale = std::bit_cast<double>((1023 + 23 + 1023 - exponent) << 52);
  return std::fabs(is - target) * scale;
}

}  // namespace nn::test
