#include "passes/idioms.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "ir/text.h"
#include "support/run_graph.h"

namespace nn::test::idioms_test {
namespace {

// The lines of the text form for an expression of calls, names and numbers, such as
// `mul(%x, add(%y, 1))`. Equal parts are one value. Attributes follow a call in braces.
class Lines {
 public:
  std::string Add(std::string_view text) {
    rest_ = text;
    return Value();
  }
  const std::string& text() const { return text_; }

 private:
  bool Skip(char c) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string Named(const std::string& value, bool is_constant) {
    const auto [it, added] = names_.emplace(value, fmt::format("%v{}", names_.size()));
    if (added)
      text_ += fmt::format("{}{}{} = {}\n", is_constant ? "const " : "", it->second,
                           is_constant ? ": f32[]" : "", value);
    return it->second;
  }

  std::string Value() {
    Skip(' ');
    const size_t end = std::min(rest_.find_first_of(",() "), rest_.size());
    std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end);
    if (word.starts_with('%')) return word;
    if (!Skip('(')) return Named("[" + word + "]", true);
    std::string call = word + "(";
    do {
      call += (call.ends_with('(') ? "" : ", ") + Value();
    } while (Skip(','));
    REQUIRE(Skip(')'));
    call += ")";
    if (Skip('{')) {
      const size_t close = rest_.find('}');
      call += fmt::format(" {{{}}}", rest_.substr(0, close));
      rest_.remove_prefix(close + 1);
    }
    return Named(call, false);
  }

  std::string_view rest_;
  std::string text_;
  std::map<std::string, std::string> names_;
};

Graph GraphOf(std::string_view expression, std::string_view more_outputs = "") {
  Lines lines;
  const std::string y = lines.Add(expression);
  std::string more;
  if (!more_outputs.empty()) more = fmt::format("out \"more\" = {}\n", lines.Add(more_outputs));
  return Parse(
      fmt::format("graph {{ in %x: f32[3, 4, 16] const %g: f32[16] = seeded(3) "
                  "const %b: f32[16] = seeded(4)\n{}out \"y\" = {}\n{} }}",
                  lines.text(), y, more));
}

std::map<std::string_view, uint64_t> Fused(Graph& graph) {
  const auto counts = FuseIdioms(graph, {});
  REQUIRE_MESSAGE(counts.has_value(), counts.error().message());
  return *counts;
}

struct Row {
  std::string_view name;
  std::string_view expression;
  std::string_view op;
  std::string_view attrs = "";  // part of the text form
  size_t inputs = 1;
};

std::vector<Row> Rows() {
  return {
      {"gelu as PyTorch writes it", "mul(mul(%x, add(erf(div(%x, 1.4142135)), 1)), 0.5)", "gelu"},
      {"gelu, half first", "mul(mul(0.5, %x), add(1, erf(mul(%x, 0.70710677))))", "gelu"},
      {"gelu of a product", "mul(mul(mul(%x, %g), 0.5), add(erf(div(mul(%x, %g), 1.4142135)), 1))",
       "gelu"},
      {"gelu by tanh",
       "mul(mul(%x, 0.5), add(tanh(mul(add(%x, mul(pow(%x, 3), 0.044715)), 0.7978846)), 1))",
       "gelu", "tanh"},
      {"gelu by tanh, x factored out",
       "mul(mul(0.5, %x), add(1, tanh(mul(mul(%x, 0.7978846), add(1, mul(mul(0.044715, %x), "
       "%x))))))",
       "gelu", "tanh"},
      {"gelu by sigmoid", "mul(%x, sigmoid(mul(%x, 1.702)))", "gelu", "sigmoid"},
      {"silu", "mul(sigmoid(%x), %x)", "silu"},
      {"mish", "mul(%x, tanh(softplus(%x)))", "mish"},
      {"mish, spelled out", "mul(%x, tanh(log(add(1, exp(%x)))))", "mish"},
      {"softplus", "log(add(exp(%x), 1))", "softplus"},
      {"softsign", "div(%x, add(1, abs(%x)))", "softsign"},
      {"hard_swish", "div(mul(%x, clip(add(%x, 3)) {min = 0, max = 6}), 6)", "hard_swish"},
      {"hard_swish, sixth first", "mul(%x, mul(clip(add(3, %x)) {min = 0, max = 6}, 0.16666667))",
       "hard_swish"},
      {"hard_swish by hard_sigmoid", "mul(%x, hard_sigmoid(%x) {alpha = 0.16666667, beta = 0.5})",
       "hard_swish"},
      {"layer_norm as PyTorch writes it",
       "add(mul(div(sub(%x, reduce_mean(%x) {axes = [-1]}), "
       "sqrt(add(reduce_mean(pow(sub(%x, reduce_mean(%x) {axes = [-1]}), 2)) {axes = [-1]}, "
       "0.001))), %g), %b)",
       "layer_norm", "axis = 2, epsilon = 0.001", 3},
      {"layer_norm over two axes, a square as a product, no bias",
       "mul(mul(sub(%x, reduce_mean(%x) {axes = [1, 2]}), reciprocal(sqrt(add(0.01, "
       "reduce_mean(mul(sub(%x, reduce_mean(%x) {axes = [1, 2]}), sub(%x, reduce_mean(%x) {axes = "
       "[1, 2]}))) {axes = [1, 2]})))), %g)",
       "layer_norm", "axis = 1, epsilon = 0.01", 2},
      {"layer_norm without parameters",
       "div(sub(%x, reduce_mean(%x) {axes = [-1]}), sqrt(add(reduce_mean(pow(sub(%x, "
       "reduce_mean(%x) {axes = [-1]}), 2)) {axes = [-1]}, 0.001)))",
       "layer_norm", "axis = 2, epsilon = 0.001"},
      {"rms_norm", "mul(mul(%x, pow(add(reduce_mean(pow(%x, 2)) {axes = [-1]}, 0.001), -0.5)), %g)",
       "rms_norm", "axis = 2, epsilon = 0.001", 2},
      {"rms_norm without scale",
       "div(%x, sqrt(add(reduce_mean(mul(%x, %x)) {axes = [-1]}, 0.001)))", "rms_norm",
       "axis = 2, epsilon = 0.001"},
      {"l2_normalization as functional.normalize",
       "div(%x, expand(maximum(reduce_l2(%x) {axes = [1]}, 0.001)) {dims = [3, 4, 16]})",
       "l2_normalization", "axes = [1], epsilon = 0.001"},
      {"l2_normalization, epsilon added", "div(%x, add(reduce_l2(%x) {axes = [-1]}, 0.001))",
       "l2_normalization", "outside"},
      {"l2_normalization, epsilon inside",
       "mul(%x, reciprocal(sqrt(add(reduce_sum(mul(%x, %x)) {axes = [-1]}, 0.001))))",
       "l2_normalization", "inside"},
  };
}

TEST_CASE("idioms: each is one operator that computes the same") {
  for (const Row& row : Rows()) {
    CAPTURE(row.name);
    const Graph spelled_out = GraphOf(row.expression);
    Graph graph = spelled_out.Clone();
    const auto counts = Fused(graph);
    REQUIRE(counts.size() == 1);
    CHECK(counts.at(row.op) == 1);
    const Node& node = graph.nodes().back();
    CAPTURE(PrintGraph(graph));
    CHECK(node.op_name() == row.op);
    CHECK(node.inputs().size() == row.inputs);
    CHECK(PrintGraph(graph).find(row.attrs) != std::string::npos);
    const auto inputs = InputsOf(graph, {});
    const Tensor y = RunEverywhere(graph, inputs)[0];
    const Tensor expected = RunEverywhere(spelled_out, inputs)[0];
    REQUIRE(y.dims() == expected.dims());
    double largest = 0;
    for (int64_t i = 0; i < y.elements(); ++i)
      largest = std::max(largest, std::abs(y.GetDouble(i) - expected.GetDouble(i)));
    CHECK(largest <= 2e-6);
  }
}

TEST_CASE("idioms: different parts, and parts with other uses, are unchanged") {
  for (const std::string_view expression : {
           "mul(mul(%x, add(erf(div(%x, 1.5)), 1)), 0.5)",
           "mul(mul(%g, add(erf(div(%x, 1.4142135)), 1)), 0.5)",
           "mul(mul(%x, add(erf(div(%x, 1.4142135)), 2)), 0.5)",
           "mul(mul(%x, add(erf(mul(%x, 1.4142135)), 1)), 0.5)",
           "mul(%x, sigmoid(mul(%x, 1.7)))",
           "div(add(1, abs(%x)), %x)",
           "mul(%x, clip(add(%x, 3)) {min = 0, max = 6})",
           "div(mul(%x, clip(add(%x, 3)) {min = 0, max = 5}), 6)",
           "mul(%x, hard_sigmoid(%x) {alpha = 0.2, beta = 0.5})",
           // The mean over one axis, the variance over another.
           "div(sub(%x, reduce_mean(%x) {axes = [-1]}), sqrt(add(reduce_mean(pow(sub(%x, "
           "reduce_mean(%x) {axes = [-1]}), 2)) {axes = [1]}, 0.001)))",
           // Not the last axes.
           "div(%x, sqrt(add(reduce_mean(mul(%x, %x)) {axes = [1]}, 0.001)))",
       }) {
    CAPTURE(expression);
    Graph graph = GraphOf(expression);
    const std::string before = PrintGraph(graph);
    CHECK(Fused(graph).empty());
    CHECK(PrintGraph(graph) == before);
  }
  Graph graph = GraphOf("mul(mul(%x, add(erf(div(%x, 1.4142135)), 1)), 0.5)",
                        "add(erf(div(%x, 1.4142135)), 1)");
  CHECK(Fused(graph).empty());
}

TEST_CASE("idioms: the options decide which are looked for and which are taken") {
  const auto spelled_out = [] { return GraphOf("mul(%x, tanh(softplus(%x)))"); };
  Graph graph = spelled_out();
  auto counts = FuseIdioms(graph, {[](const Node&) { return false; }, nullptr});
  REQUIRE(counts.has_value());
  CHECK(counts->empty());
  const std::string before = PrintGraph(graph);
  counts = FuseIdioms(graph, {nullptr, [](const Node& node) {
                                CHECK(node.Is("mish"));
                                return false;
                              }});
  REQUIRE(counts.has_value());
  CHECK(counts->empty());
  CHECK(PrintGraph(graph) == before);
  CHECK(Fused(graph).at("mish") == 1);
}

TEST_CASE("idioms: symbolic sizes are kept, other types are left alone") {
  Graph open =
      Parse(R"(graph { in %x: f32[n, 8] %s = sigmoid(%x) %y = mul(%x, %s) out "y" = %y })");
  CHECK(Fused(open).at("silu") == 1);
  CHECK(open.outputs()[0].value->type().ToString() == "f32[n, 8]");
  Graph half =
      Parse(R"(graph { in %x: f16[n, 8] %s = sigmoid(%x) %y = mul(%x, %s) out "y" = %y })");
  CHECK(Fused(half).empty());
}

}  // namespace
}  // namespace nn::test::idioms_test
