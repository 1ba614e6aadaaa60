#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::mel_test {
namespace {

std::string Matrix(int bins, int length, const std::string& dtype = "f64") {
  return fmt::format(R"(graph {{ const %b: i64[] = [{}]  const %l: i64[] = [{}]
                        in %r: i64[]  in %e: f64[]  in %h: f64[]
                        %y = mel_weight_matrix(%b, %l, %r, %e, %h) {{dtype = {}}}
                        out "y" = %y }})",
                     bins, length, dtype);
}

// The formulas of the specification with logarithms and powers of the C library.
std::vector<double> FromFormulas(int bins, int length, double rate, double low, double high) {
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  std::vector<double> corners;
  const double step = (mel(high) - mel(low)) / (bins + 2);
  for (int i = 0; i < bins + 2; ++i) {
    const double hertz = 700 * (std::pow(10.0, (mel(low) + i * step) / 2595) - 1);
    corners.push_back(std::floor((length + 1) * hertz / rate));
  }
  std::vector<double> weights;
  for (int j = 0; j <= length / 2; ++j)
    for (int i = 0; i < bins; ++i) {
      const double left = corners[i], middle = corners[i + 1], right = corners[i + 2];
      weights.push_back(j == middle               ? 1
                        : j > left && j < middle  ? (j - left) / (middle - left)
                        : j > middle && j < right ? (right - j) / (right - middle)
                                                  : 0);
    }
  return weights;
}

TEST_CASE("mel_weight_matrix: the formulas of the specification") {
  for (const auto& [bins, length, rate, low, high] :
       {std::tuple(8, 16, 8192, 0, 4096), std::tuple(40, 400, 16000, 20, 7600),
        std::tuple(3, 7, 100, 10, 40), std::tuple(64, 512, 44100, 133, 6854)})
    CheckCase(
        {fmt::format("{} of {}", bins, length),
         Matrix(bins, length),
         {{static_cast<double>(rate)}, {static_cast<double>(low)}, {static_cast<double>(high)}},
         {FromFormulas(bins, length, rate, low, high)}});
}

TEST_CASE("mel_weight_matrix: integers are rounded toward zero") {
  std::vector<double> want = FromFormulas(3, 64, 8000, 0, 4000);
  for (double& v : want) v = std::floor(v);
  CheckCase({"", Matrix(3, 64, "i32"), {{8000}, {0}, {4000}}, {want}});
}

TEST_CASE("mel_weight_matrix: operands that do not fit") {
  const Graph g = Parse(Matrix(3, 64));
  for (const std::vector<double>& v : std::vector<std::vector<double>>{
           {0, 0, 4000}, {8000, -700, 4000}, {8000, 0, -800}, {8000, 0, NAN}})
    CheckSameError(g, InputsOf(g, {{v[0]}, {v[1]}, {v[2]}}));
  CHECK(Fails(Matrix(0, 64), "bins is 0; must be positive"));
  CHECK(Fails(Matrix(3, 0), "length is 0; must be positive"));
  CHECK(Fails(Matrix(3, 64, "bool"), "weights cannot be bool"));
}

}  // namespace
}  // namespace nn::test::mel_test
