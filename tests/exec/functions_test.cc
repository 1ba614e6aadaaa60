// The elementary functions against double precision, and on every SIMD target against each other.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "exec/kernels/elementwise.h"
#include "exec/program.h"

namespace nn {
namespace {

struct FunctionCase {
  const char* name;
  double limit;  // units in the last place
  double (*want)(double);
  float parameter = 0;
};

double Sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double Softplus(double x) {
  return x > 40 ? x : std::log1p(std::exp(x));
}
double Gelu(double x) {
  return x / 2 * std::erfc(-x / std::sqrt(2.0));
}
double GeluTanh(double x) {
  return x * Sigmoid(2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x));
}

// The limits are those that ops/elementary_*-inl.h state.
const FunctionCase kFunctions[] = {
    {"acos", 1.3, [](double x) { return std::acos(x); }},
    {"acosh", 1.2, [](double x) { return std::acosh(x); }},
    {"asin", 1.3, [](double x) { return std::asin(x); }},
    {"asinh", 1.2, [](double x) { return std::asinh(x); }},
    {"atan", 1.6, [](double x) { return std::atan(x); }},
    {"atanh", 1.2, [](double x) { return std::atanh(x); }},
    {"cos", 1.3, [](double x) { return std::cos(x); }},
    {"cosh", 1.6, [](double x) { return std::cosh(x); }},
    {"erf", 1.0, [](double x) { return std::erf(x); }},
    {"exp", 0.9, [](double x) { return std::exp(x); }},
    {"exp2", 0.9, [](double x) { return std::exp2(x); }},
    {"expm1", 1.5, [](double x) { return std::expm1(x); }},
    {"gelu", 2.0, Gelu, 0},
    {"gelu", 2.0, GeluTanh, 1},
    {"gelu", 2.0, [](double x) { return x * Sigmoid(1.702 * x); }, 2},
    {"log", 1.0, [](double x) { return std::log(x); }},
    {"log1p", 1.1, [](double x) { return std::log1p(x); }},
    {"mish", 1.5, [](double x) { return x * std::tanh(Softplus(x)); }},
    {"reciprocal", 0.5, [](double x) { return 1 / x; }},
    {"rsqrt", 1.5, [](double x) { return 1 / std::sqrt(x); }},
    {"sigmoid", 1.0, Sigmoid},
    {"silu", 1.7, [](double x) { return x * Sigmoid(x); }},
    {"sin", 1.3, [](double x) { return std::sin(x); }},
    {"sinh", 1.6, [](double x) { return std::sinh(x); }},
    {"softplus", 2.0, Softplus},
    {"sqrt", 0.5, [](double x) { return std::sqrt(x); }},
    {"tan", 1.5, [](double x) { return std::tan(x); }},
    {"tanh", 1.0, [](double x) { return std::tanh(x); }},
};

// Every `step`-th float32, of all 2^32.
std::vector<float> Arguments(uint32_t step) {
  std::vector<float> x;
  x.reserve((uint64_t{1} << 32) / step + 1);
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += step)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return x;
}

// |got - want| in units in the last place of want's binade; 2^128 stands for infinity.
double ErrorInUlp(double want, float got) {
  const double kBeyond = std::ldexp(1.0, 128);
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : std::numeric_limits<double>::infinity();
  want = std::clamp(want, -kBeyond, kBeyond);
  const double is = std::isinf(got) ? std::copysign(kBeyond, got) : static_cast<double>(got);
  const int exponent = want == 0 ? -126 : std::clamp(std::ilogb(want), -126, 127);
  return std::fabs(is - want) / std::ldexp(1.0, exponent - 23);
}

std::vector<float> Run(const FunctionCase& f, const std::vector<float>& x) {
  const auto id = UnaryFunctionId(f.name);
  REQUIRE(id.has_value());
  std::vector<float> y(x.size());
  RunUnaryF32(*id, FunctionParams{f.parameter}, x.data(), y.data(), x.size());
  return y;
}

TEST_CASE("functions: the largest error is what is stated") {
  // NN_FUNCTION_STEP=1 takes all floats, which is slow.
  const char* variable = std::getenv("NN_FUNCTION_STEP");
  const uint32_t step = variable == nullptr ? 2003 : static_cast<uint32_t>(std::atoi(variable));
  REQUIRE(step > 0);
  const std::vector<float> x = Arguments(step);
  for (const FunctionCase& f : kFunctions) {
    CAPTURE(f.name);
    CAPTURE(f.parameter);
    const std::vector<float> y = Run(f, x);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = ErrorInUlp(f.want(static_cast<double>(x[i])), y[i]);
      if (error <= worst) continue;
      worst = error;
      where = x[i];
    }
    CAPTURE(where);
    CHECK(worst <= f.limit);
    MESSAGE(std::string(f.name) << ": largest error " << worst << " ULP at " << where);
  }
}

TEST_CASE("functions: every SIMD target gives the same bits") {
  const std::vector<float> x = Arguments(99991);
  for (const FunctionCase& f : kFunctions) {
    CAPTURE(f.name);
    const std::vector<float> want = Run(f, x);
    for (const std::string& target : SimdTargets()) {
      CAPTURE(target);
      REQUIRE(UseSimdTarget(target).has_value());
      const std::vector<float> got = Run(f, x);
      size_t different = 0;
      for (size_t i = 0; i < x.size(); ++i)
        different += std::bit_cast<uint32_t>(want[i]) != std::bit_cast<uint32_t>(got[i]) &&
                     !(std::isnan(want[i]) && std::isnan(got[i]));
      CHECK(different == 0);
    }
    REQUIRE(UseSimdTarget("").has_value());
  }
}

}  // namespace
}  // namespace nn
