// The errors of the elementary functions composed for NNAPI 1.0.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "formats/format.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::nnapi_functions_test {
namespace {

constexpr int kSamples = 4001;

struct FunctionRow {
  std::string function;  // of %x
  // Samples: from lo to hi, equally spaced, or powers of 10 if `powers`.
  double lo, hi;
  bool powers = false;
  // The largest difference: relative, and in addition absolute.
  double relative = 0, absolute = 0;
};

const FunctionRow kRows[] = {
    {"exp(%x)", -87, 88.7, false, 1.5e-6, 0},
    {"expm1(%x)", -20, 80, false, 1.5e-6, 0},
    {"elu(%x) {alpha = 0.7}", -30, 5, false, 6e-7, 0},
    {"selu(%x)", -30, 5, false, 6e-7, 0},
    {"celu(%x) {alpha = 2}", -30, 5, false, 6e-7, 0},
    {"erf(%x)", -6, 6, false, 4e-7, 0},
    {"gelu(%x)", -12, 12, false, 3e-7, 4e-7},
    {"gelu(%x) {approximate = tanh}", -12, 12, false, 3e-6, 1e-9},
    {"gelu(%x) {approximate = sigmoid}", -50, 12, false, 6e-6, 0},
    {"softplus(%x)", -80, 20, false, 1e-6, 0},
    {"mish(%x)", -80, 20, false, 1e-6, 0},
    {"softsign(%x)", -1000, 1000, false, 4e-7, 0},
    {"sqrt(%x)", -37, 38, true, 1e-6, 0},
    {"log(%x)", -37, 38, true, 1e-6, 4e-7},
    {"log(%x)", 0.5, 2, false, 0, 6e-7},
    {"round(%x)", -20, 20, false, 0, 0},
    {"round(%x)", 8388600, 8388620, false, 0, 0},
    {"ceil(%x)", -20, 20, false, 0, 0},
    {"sign(%x)", -20, 20, false, 0, 0},
    {"reciprocal(add(mul(%x, %x), 1e-12))", -6, 18, true, 1e-6, 0},
    {"rsqrt(add(mul(%x, %x), 1e-12))", -6, 18, true, 1e-6, 0},
    {"div(%x, add(sigmoid(%x), 0.25))", -20, 20, false, 1e-6, 0},
    {"div(%x, sqrt(add(mul(%x, %x), 1e-5)))", -6, 18, true, 2e-6, 0},
};

// The lines of the text form for nested calls and numbers; `name` receives the result.
std::string Lines(const std::string& text, size_t& at, int& count, std::string& name) {
  std::string lines;
  const size_t end = text.find_first_of("(,)", at);
  const std::string word = text.substr(at, end - at);
  at = end;
  if (text[at] != '(') {
    if (word[0] == '%') {
      name = word;
      return {};
    }
    name = fmt::format("%v{}", count++);
    return fmt::format("const {}: f32[] = [{}]\n", name, word);
  }
  std::string operands;
  do {
    at += text[at] == '(' ? 1 : 2;
    std::string operand;
    lines += Lines(text, at, count, operand);
    operands += (operands.empty() ? "" : ", ") + operand;
  } while (text[at] == ',');
  ++at;
  std::string attributes;
  if (text.compare(at, 2, " {") == 0) {
    attributes = text.substr(at);
    at = text.size();
  }
  name = fmt::format("%v{}", count++);
  return lines + fmt::format("{} = {}({}){}\n", name, word, operands, attributes);
}

Graph GraphOf(const std::string& function, const std::string& type) {
  size_t at = 0;
  int count = 0;
  std::string result;
  const std::string lines = Lines(function, at, count, result);
  return Parse(
      fmt::format("graph \"g\" {{\n in %x \"x\": {}\n{} out \"y\" = {}\n}}", type, lines, result));
}

std::vector<UnsupportedNode> Legalized(Graph& graph) {
  InterfaceAxes axes;
  const auto unsupported = Legalize(graph, *FindFormat("nnapi")->target, &axes);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  return *unsupported;
}

TEST_CASE("nnapi functions: the largest difference from the operator") {
  for (const FunctionRow& row : kRows) {
    CAPTURE(row.function);
    CAPTURE(row.lo);
    Graph graph = GraphOf(row.function, fmt::format("f32[{}]", kSamples));
    std::vector<float> x;
    for (int i = 0; i < kSamples; ++i) {
      const double v = row.lo + (row.hi - row.lo) * i / (kSamples - 1);
      x.push_back(static_cast<float>(row.powers ? std::pow(10.0, v) : v));
    }
    const std::vector<Tensor> inputs = {Tensor::Of({kSamples}, x)};
    const auto want = RunEverywhere(graph, inputs);
    const auto unsupported = Legalized(graph);
    REQUIRE_MESSAGE(unsupported.empty(), unsupported[0].reason);
    const auto got = RunEverywhere(graph, inputs);
    double relative = 0, absolute = 0;
    for (int64_t i = 0; i < kSamples; ++i) {
      const double y = want[0].GetDouble(i);
      const double difference = std::fabs(got[0].GetDouble(i) - y);
      absolute = std::max(absolute, difference);
      if (difference > row.absolute)
        relative = std::max(relative, (difference - row.absolute) / std::fabs(y));
    }
    CAPTURE(absolute);
    CHECK(relative <= row.relative);
  }
}

TEST_CASE("nnapi functions: a divisor that may be 0 is refused") {
  for (const std::string function : {"div(1, %x)", "div(%x, relu(%x))", "reciprocal(%x)",
                                     "rsqrt(mul(%x, %x))", "div(%x, add(%x, 1))", "div(%x, 0)"}) {
    CAPTURE(function);
    Graph graph = GraphOf(function, "f32[2, 3]");
    const auto unsupported = Legalized(graph);
    REQUIRE(unsupported.size() == 1);
    CHECK(unsupported[0].reason.find("may be 0") != std::string::npos);
  }
}

TEST_CASE("nnapi functions: a divisor of unknown size is refused, even if the quotient has one") {
  Graph graph = Parse(R"(graph {
    in %a: f32[4]
    in %b: f32[c]
    const %one: f32[] = [1]
    %d = sigmoid(%b)
    %p = add(%d, %one)
    %y = div(%a, %p)
    out "y" = %y
  })");
  CHECK(!Legalized(graph).empty());
}

TEST_CASE("nnapi functions: idioms become operators that have rewrites") {
  Graph graph = Parse(R"(graph "g" {
    in %x "x": f32[2, 3, 8]
    const %two: f32[] = [2]
    const %epsilon: f32[] = [1e-5]
    const %scale: f32[8] = seeded(1)
    const %bias: f32[8] = seeded(2)
    %mean = reduce_mean(%x) {axes = [-1]}
    %d = sub(%x, %mean)
    %square = pow(%d, %two)
    %variance = reduce_mean(%square) {axes = [-1]}
    %sum = add(%variance, %epsilon)
    %root = sqrt(%sum)
    %q = div(%d, %root)
    %p = mul(%q, %scale)
    %y = add(%p, %bias)
    out "y" = %y
  })");
  InterfaceAxes axes;
  RewriteCounts counts;
  const auto unsupported = Legalize(graph, *FindFormat("nnapi")->target, &axes, &counts);
  REQUIRE(unsupported.has_value());
  CHECK(unsupported->empty());
  CHECK(counts[{"layer_norm", "fused idiom"}] == 1);
  CHECK(counts[{"layer_norm", "L2 normalization"}] == 1);
}

TEST_CASE("nnapi functions: a divisor is bounded by the operators before it") {
  // torch.nn.functional.normalize
  Graph graph = Parse(R"(graph "g" {
    in %x "x": f32[2, 3, 8]
    %norm = reduce_l2(%x) {axes = [-1]}
    %bounded = clip(%norm) {min = 1e-12}
    %y = div(%x, %bounded)
    out "y" = %y
  })");
  CHECK(Legalized(graph).empty());
}

TEST_CASE("nnapi functions: an unknown shape is the reason") {
  Graph graph = GraphOf("exp(%x)", "f32[n, 3]");
  const auto unsupported = Legalized(graph);
  REQUIRE(unsupported.size() == 1);
  CHECK(
      unsupported[0].reason ==
      "NNAPI 1.0 has no such operation, and its decomposition needs a fixed shape; use --batch or "
      "--input-shape");
}

}  // namespace
}  // namespace nn::test::nnapi_functions_test
