#include "rewrite/rules/rules.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "ir/text/text.h"
#include "rewrite/apply_rule.h"
#include "rewrite/expansion.h"
#include "support/run_graph.h"

namespace nn::test::rules_test {
namespace {

using Row = ExpansionRow;

const double nan = std::nan(""), inf = INFINITY;
const std::vector<double> kNumbers = {nan, inf,  -inf, 0,     -0.0, 1e-40, -1e-5, 1e-3,
                                      0.3, 0.99, 1,    1.001, -1.5, 2.5,   -2.5,  40,
                                      -88, 89,   1e4,  -2e4,  3e38, -3e38, 0.5,   -0.5};
// Whose functions the formulas round differently, within the range of all steps.
const std::vector<double> kModerate = {nan, 0, -0.0, 1e-3, 0.3, 0.99, 1, -1.5, 2.5, 40, -30, 60};

std::string Unary(std::string_view op) {
  return OnX(fmt::format("f32[{}]", kNumbers.size()), op);
}
std::string Moderate(std::string_view op) {
  return OnX(fmt::format("f32[{}]", kModerate.size()), op);
}
// Of numbers and a constant.
std::string WithConstant(std::string_view op, std::string_view constant) {
  return fmt::format("graph {{ in %x: f32[{}] const %c: {} %y = {}(%x, %c) out \"y\" = %y }}",
                     kNumbers.size(), constant, op);
}
// Of all pairs of numbers.
std::string Pairs(std::string_view op, std::string_view type, size_t n) {
  return fmt::format(
      "graph {{ in %a: {0}[{1}, 1] in %b: {0}[{1}] %y = {2}(%a, %b) out \"y\" = %y }}", type, n,
      op);
}

void AddActivations(std::vector<Row>& rows) {
  const auto add = [&](const char* op, std::string_view call, double tolerance) {
    rows.push_back({op, ExpandByRule, Unary(call), {kNumbers}, tolerance});
  };
  add("hard_sigmoid", "hard_sigmoid(%x) {alpha = 0.25, beta = 0.5}", 0);
  add("hard_sigmoid", "hard_sigmoid(%x) {alpha = 1, beta = 0.125}", 0);
  add("hard_swish", "hard_swish(%x)", 1e-6);
  add("leaky_relu", "leaky_relu(%x) {alpha = 0.25}", 0);
  add("leaky_relu", "leaky_relu(%x) {alpha = -3}", 1e-6);  // -0 becomes +0
  add("clip", "clip(%x) {min = 0, max = 1}", 0);
  add("clip", "clip(%x) {min = -2, max = 30}", 0);
  add("clip", "clip(%x)", 0);
  add("clip", "clip(%x) {min = -2}", 0);
  add("clip", "clip(%x) {max = 30}", 0);
  add("elu", "elu(%x) {alpha = 0.5}", 1e-6);
  add("selu", "selu(%x)", 1e-6);
  add("celu", "celu(%x) {alpha = 0.5}", 1e-6);
  add("erf", "erf(%x)", 1e-6);
  rows.push_back({"celu", ExpandByRule, Moderate("celu(%x) {alpha = -3}"), {kModerate}, 3e-6});
  rows.push_back({"prelu",
                  ExpandByRule,
                  fmt::format("graph {{ in %x: f32[{0}] in %s: f32[{0}] %y = prelu(%x, %s) "
                              "out \"y\" = %y }}",
                              kNumbers.size()),
                  {kNumbers, {kNumbers.rbegin(), kNumbers.rend()}}});
}

void AddArithmetic(std::vector<Row>& rows) {
  const size_t n = kNumbers.size();
  for (const char* op : {"squared_difference", "equal", "not_equal", "less_equal", "greater_equal"})
    rows.push_back({op, ExpandByRule, Pairs(op, "f32", n), {kNumbers, kNumbers}});
  const std::vector<double> whole = {-2147483648, 2147483647, 0, 1, -1, 7, -7};
  for (const char* op : {"equal", "not_equal", "less_equal", "greater_equal"})
    rows.push_back({op, ExpandByRule, Pairs(op, "i32", whole.size()), {whole, whole}});
  rows.push_back({"squared_difference",
                  ExpandByRule,
                  Pairs("squared_difference", "i64", whole.size()),
                  {whole, whole}});
  for (const char* op : {"maximum", "minimum"})
    rows.push_back({op, ExpandByRule, Pairs(op, "i32", whole.size()), {whole, whole}});
  rows.push_back({"relu", ExpandByRule, OnX("i32[7]", "relu(%x)"), {whole}});
  rows.push_back({"relu", ExpandByRule, OnX("u8[3]", "relu(%x)"), {{0, 1, 255}}});
  for (const char* type : {"i8", "i16", "u8"})
    rows.push_back(
        {"fmod", ExpandByRule, Pairs("fmod", type, 5), {{0, 1, 7, 100, 127}, {0, 1, 3, 100, 5}}});
  for (const char* op : {"xor", "equal", "not_equal"})
    rows.push_back({op, ExpandByRule, Pairs(op, "bool", 2), {{0, 1}, {0, 1}}});
  for (const auto& [type, largest] : {std::pair("u8", 255.0), std::pair("u16", 65535.0)})
    rows.push_back(
        {"div", ExpandByRule, Pairs("div", type, 4), {{0, 1, 100, largest}, {0, 1, 7, largest}}});
  for (const char* op : {"sub", "minimum"})
    rows.push_back({op, ExpandByRule, Pairs(op, "f32", n), {kNumbers, kNumbers}});
  for (const char* op : {"abs", "neg"})
    rows.push_back({op, ExpandByRule, Unary(fmt::format("{}(%x)", op)), {kNumbers}});
  const auto with_constant = [&](const char* op, double y, double tolerance) {
    const std::string graph = WithConstant(op, fmt::format("f32[] = [{}]", y));
    rows.push_back({op, ExpandByRule, graph, {kNumbers}, tolerance});
  };
  with_constant("div", 4, 0);
  with_constant("div", -0.3, 1e-6);
  with_constant("pow", 1, 0);
  with_constant("pow", 2, 0);
  with_constant("pow", 3, 1e-6);
  rows.push_back({"abs", ExpandByRule, OnX("i64[3]", "abs(%x)"), {{-5, 0, 7}}});
  rows.push_back({"reciprocal", ExpandByRule, Unary("reciprocal(%x)"), {kNumbers}});
  rows.push_back({"rsqrt", ExpandByRule, Moderate("rsqrt(%x)"), {kModerate}, 1e-6});
  // Zeros become +0.
  rows.push_back({"round",
                  ExpandByRule,
                  OnX("f32[8]", "round(%x)"),
                  {{0.5, 1.5, 2.5, -1.5, -2.5, 3.3, nan, 1e30}}});
}

// A target that has all operators but these.
RuleTarget Without(const std::set<std::string>& lacks) {
  return {[lacks](const Node& n) {
            return lacks.contains(std::string(n.op_name())) ? std::optional<std::string>("absent")
                                                            : std::nullopt;
          },
          [](const Node& /*n*/) { return false; }};
}

// For a target whose operators on bits are those of 32 bits.
Result<bool> ExpandToWords(Graph& graph, Node& node) {
  RuleTarget target = Without({"bitwise_xor"});
  target.why_illegal = [lacks = target.why_illegal](const Node& n) {
    return DTypeBits(n.output()->dtype()) == 64 ? lacks(n) : std::nullopt;
  };
  return ExpandFor(target, graph, node);
}

// All bits of narrow integers, the ends of wider ones.
void AddBits(std::vector<Row>& rows) {
  const std::vector<double> bytes = {-128, -127, -86, -1, 0, 1, 15, 85, 127};
  const std::vector<double> wide = {-2147483648, -65536, -65535, -32769, -1,    0,
                                    1,           32768,  65535,  65536,  43690, 2147483647};
  for (const char* type : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
    const bool narrow = type[1] == '8';
    std::vector<double> values = narrow ? bytes : wide;
    if (std::string_view(type) == "i16") values = {-32768, -32767, -256, -1, 0, 1, 255, 32767};
    if (type[0] == 'u')
      for (double& v : values) v = std::abs(v);
    if (std::string_view(type) == "u16") values = {0, 1, 255, 256, 43690, 32768, 65535};
    const size_t n = values.size();
    for (const char* op : {"bitwise_and", "bitwise_or"})
      rows.push_back({op, ExpandByRule, Pairs(op, type, n), {values, values}});
    if (DTypeBits(*ParseDType(type)) == 64)
      rows.push_back(
          {"bitwise_xor", ExpandToWords, Pairs("bitwise_xor", type, n), {values, values}});
    rows.push_back({"bitwise_not",
                    ExpandByRule,
                    OnX(fmt::format("{}[{}]", type, n), "bitwise_not(%x)"),
                    {values}});
  }
}

void AddReductions(std::vector<Row>& rows) {
  for (const char* op : {"reduce_l1", "reduce_min", "reduce_sum_square"})
    for (const char* attrs : {"axes = [1]", "axes = [0, -1], keep_dims = false"})
      rows.push_back({op,
                      ExpandByRule,
                      OnX("f32[2, 3, 4]", fmt::format("{}(%x) {{{}}}", op, attrs)),
                      {},
                      1e-6});
  rows.push_back(
      {"reduce_l2", ExpandByRule, OnX("f32[2, 3]", "reduce_l2(%x) {axes = [1]}"), {}, 1e-6});
  rows.push_back({"reduce_log_sum",
                  ExpandByRule,
                  OnX("f32[2, 2]", "reduce_log_sum(%x) {axes = [0]}"),
                  {{1, 2, 3, 4}},
                  1e-6});
  for (const char* op : {"reduce_any", "reduce_all", "reduce_max", "reduce_min"})
    rows.push_back({op,
                    ExpandByRule,
                    OnX("bool[2, 2]", fmt::format("{}(%x) {{axes = [1]}}", op)),
                    {{1, 0, 1, 1}}});
  rows.push_back({"log_softmax",
                  ExpandByRule,
                  OnX("f32[2, 3]", "log_softmax(%x) {axis = 0}"),
                  {{1, -2, 3, 400, 5, -600}},
                  1e-6});
}

// Activations without attributes and commuting functions of two numbers need no rows of their own.
void AddFunctions(std::vector<Row>& rows) {
  for (const FormulaRule& rule : FormulaRules()) {
    const OpDef& op = *Ops().Find(rule.formula.op());
    const bool unary = op.inputs.size() == 1 && op.category == Category::kActivation;
    if (rule.row.use == RuleUse::kFind || op.attrs != AttrsInfoOf<NoAttrs>()) continue;
    if (!unary && !op.commutes) continue;
    const std::string name(op.name);
    // Those of other types have rows of their own.
    const std::string graph = unary ? Unary(name + "(%x)") : Pairs(name, "f32", kNumbers.size());
    if (Graph g = Parse(graph); !rule.formula.AppliesTo(g.nodes().front())) continue;
    const double tolerance = rule.row.error == RuleError::kExact ? 0 : 1e-6;
    std::vector<std::vector<double>> inputs = {kNumbers};
    if (!unary) inputs.push_back(kNumbers);
    rows.push_back({rule.row.text.data(), ExpandByRule, graph, std::move(inputs), tolerance});
  }
}

// For a target without comparisons.
Result<bool> ExpandWithoutLess(Graph& graph, Node& node) {
  return ExpandFor(Without({"prelu", "less"}), graph, node);
}

void AddMath(std::vector<Row>& rows) {
  const std::vector<double> numbers = {nan, inf,  -inf, 0,    -0.0,  1e-40, -1e-5, 1e-3,    0.3,
                                       0.9, 0.99, 1,    -1,   1.001, -1.5,  2.5,   40,      -88.9,
                                       89,  1e4,  -2e4, 3e38, -3e38, 1e6,   -1e6,  0.999999};
  const std::string type = fmt::format("f32[{}]", numbers.size());
  for (const char* op :
       {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "exp2", "sinh", "tan"})
    rows.push_back({op, ExpandByRule, OnX(type, fmt::format("{}(%x)", op)), {numbers}, 3e-6});
  rows.push_back(
      {"gelu", ExpandByRule, OnX(type, "gelu(%x) {approximate = sigmoid}"), {numbers}, 1e-6});
  for (const char* attrs : {"bias = 0", "bias = 0.25", "lambd = -0.5, bias = 1.5"})
    rows.push_back(
        {"shrink", ExpandByRule, OnX(type, fmt::format("shrink(%x) {{{}}}", attrs)), {numbers}});
  rows.push_back({"thresholded_relu",
                  ExpandByRule,
                  OnX(type, "thresholded_relu(%x) {alpha = -0.5}"),
                  {numbers}});
  for (const char* attrs :
       {"detect_negative = true", "detect_negative = false", "detect_positive = false",
        "detect_negative = false, detect_positive = false"})
    rows.push_back(
        {"is_inf", ExpandByRule, OnX(type, fmt::format("is_inf(%x) {{{}}}", attrs)), {numbers}});
  rows.push_back({"is_nan", ExpandByRule, OnX(type, "is_nan(%x)"), {numbers}});
  const std::vector<double> sides = {nan, inf, -inf, 0, -0.0, 1.5, -3, 1e-40, 3e38};
  rows.push_back(
      {"atan2", ExpandByRule, Pairs("atan2", "f32", sides.size()), {sides, sides}, 1e-6});
  rows.push_back({"fmod", ExpandByRule, Pairs("fmod", "f32", sides.size()), {sides, sides}});
  const std::vector<double> whole = {-2147483648, 2147483647, 0, 1, -1, 7, -7, 3, -3};
  rows.push_back(
      {"fmod of integers", ExpandByRule, Pairs("fmod", "i32", whole.size()), {whole, whole}});
  const std::vector<double> narrow = {-128, 127, 0, 1, -1, 7, -7};
  rows.push_back(
      {"fmod of bytes", ExpandByRule, Pairs("fmod", "i8", narrow.size()), {narrow, narrow}});
  for (const char* slopes : {"f32[] = [0.25]", "f32[24] = seeded(1, 0.5)"})
    rows.push_back({"prelu", ExpandWithoutLess, WithConstant("prelu", slopes), {kNumbers}, 1e-6});
  rows.push_back({"angles of a grid", ExpandByRule, Pairs("atan2", "f32", 4), {}, 3e-7});
  rows.push_back({"angles of zeros, infinities and NaN",
                  ExpandByRule,
                  "graph { in %y: f32[14] in %x: f32[14] %z = atan2(%y, %x) out \"z\" = %z }",
                  {{0, -0.0, 0, -0.0, 1, -1, 1, -1, inf, -inf, inf, 1, -1, 1},
                   {0, 0, -0.0, -0.0, 0, -0.0, -1, -1, inf, -inf, 1, -inf, inf, -1e-30}},
                  3e-7});
}

std::vector<Row> AllRows() {
  std::vector<Row> rows;
  AddFunctions(rows);
  AddActivations(rows);
  AddArithmetic(rows);
  AddBits(rows);
  AddReductions(rows);
  AddMath(rows);
  return rows;
}

TEST_CASE("rules: the same results, to the bit unless a rule rounds differently") {
  for (const Row& row : AllRows()) CheckExpansion(row);
}

TEST_CASE("rules: each that expands has a row to which it applies") {
  const std::vector<Row> rows = AllRows();
  for (const FormulaRule& rule : FormulaRules()) {
    CAPTURE(rule.row.text);
    const auto applies = [&](const Row& row) {
      Graph g = Parse(row.graph);
      return rule.formula.AppliesTo(g.nodes().front());
    };
    CHECK((rule.row.use == RuleUse::kFind || std::ranges::any_of(rows, applies)));
  }
}

TEST_CASE("rules: conditions") {
  const std::string graphs[] = {
      OnX("f64[2]", "silu(%x)"),
      OnX("f16[2]", "is_inf(%x)"),
      OnX("f32[2]", "elu(%x) {alpha = 1}"),
      OnX("f32[2]", "elu(%x) {alpha = -1}"),
      OnX("f32[2]", "gelu(%x) {approximate = tanh}"),
      OnX("i32[2]", "abs(%x)"),
      "graph { in %x: f32[2, 3] in %a: i64[1] %y = reduce_l1(%x, %a) out \"y\" = %y }",
      OnX("f32[2]", "leaky_relu(%x) {alpha = inf}"),
      WithConstant("div", "f32[2, 1] = [4, 0]"),
      WithConstant("div", "f32[] = [1e-40]"),
      WithConstant("pow", "f32[] = [4]"),
      WithConstant("pow", "f32[2, 1] = [2, 3]"),
      WithConstant("pow", "f32[2, 1] = [2, 2]"),  // the result has more axes
      "graph { in %x: f32[2] in %c: f32[2] %y = div(%x, %c) out \"y\" = %y }",
  };
  for (const std::string& graph : graphs) CheckNotExpanded(ExpandByRule, graph);
}

TEST_CASE("rules: texts that are no formulas") {
  const struct {
    const char* text;
    const char* reason;
  } rows[] = {
      {"foo(x) = x", "foo is no operator"},
      {"relu(x, y) = x", "relu has fewer inputs"},
      {"relu(x)", "= is expected"},
      {"relu(x) = ", "a name is expected"},
      {"relu(x) = foo(x)", "foo is no operator"},
      {"relu(x) = abs(x, x)", "abs has fewer inputs"},
      {"relu(x) = y", "y has no meaning"},
      {"relu(x) = x = x; x", "x has two meanings"},
      {"relu(x) = y = x y", "; is expected"},
      {"relu(x) = (x", ") is expected"},
      {"relu(x) = x * alpha", "alpha has no meaning"},
      {"elu(x) = clip(x, least = 0)", "least is no attribute of clip"},
      {"elu(x) = gelu(x, approximate = some)", "some is no approximate"},
      {"elu(x) = sqrt(alpha) * x", "sqrt is not computed for numbers"},
      {"elu(x) = x where f33", "a condition is no number"},
      {"elu(x) = x where f32 | beta", "beta is no type"},
      {"prelu(x, slope) = x where x > slope", "a condition is about two operands"},
      {"elu(x) = x where sigmoid(x)", "sigmoid is not computed for numbers"},
      {"gelu(x) = x where approximate == some", "some is no approximate"},
      {"relu(x) = x where f32 f32", "f32 is not expected"},
  };
  for (const auto& row : rows) {
    const auto formula = Formula::Parse(row.text);
    REQUIRE_FALSE(formula.has_value());
    const std::string message = formula.error().message();
    CAPTURE(message);
    CHECK(message.find(row.reason) != std::string::npos);
  }
}

TEST_CASE("rules: as patterns") {
  const struct {
    const char* text;
    const char* pattern;
  } rows[] = {
      {"silu(x) = gate = sigmoid(x); clip(x, min = lowest) * gate", "product(x, sigmoid(x))"},
      {"hard_swish(x) = x * clip(x + 3, min = 0, max = 6) / 8",
       "product(0.125, x, clip(add(x, 3), min = 0, max = 6))"},
      {"softsign(x) = x / (abs(x) + 1)", "product(x, inverse(add(abs(x), 1)))"},
      {"neg(x) = -x", "product(-1, x)"},
  };
  for (const auto& row : rows) {
    const auto formula = Formula::Parse(row.text);
    REQUIRE(formula.has_value());
    CHECK(formula->AsPattern() == row.pattern);
  }
  for (const FormulaRule& rule : FormulaRules()) {
    CAPTURE(rule.row.text);
    CHECK(rule.row.key.empty() == (rule.row.use == RuleUse::kExpand));
    if (!rule.row.key.empty()) {
      CHECK(rule.formula.AsPattern().has_value());
      CHECK(std::ranges::count(rule.formula.Operators(), rule.row.key) == 1);
    }
  }
}

// The operators that the rules of `op` lead to, by any number of steps.
std::set<std::string> Reached(std::string_view op) {
  std::set<std::string> out;
  std::vector<std::string> next = {std::string(op)};
  while (!next.empty()) {
    const std::string last = next.back();
    next.pop_back();
    for (const FormulaRule* rule : RulesOf(last))
      for (const std::string& other : rule->formula.Operators())
        if (out.insert(other).second) next.push_back(other);
  }
  return out;
}

TEST_CASE("rules: operators that are defined by each other, which only the cost orders") {
  std::vector<std::string> circular;
  for (const FormulaRule& rule : FormulaRules())
    if (Reached(rule.formula.op()).contains(rule.formula.op()))
      circular.push_back(rule.formula.op());
  std::ranges::sort(circular);
  circular.erase(std::unique(circular.begin(), circular.end()), circular.end());
  CHECK(fmt::format("{}", fmt::join(circular, " ")) ==
        "atan atan2 bitwise_xor clip div elu is_nan not_equal reduce_all reduce_any reduce_max "
        "reduce_min xor");
}

TEST_CASE("rules: a condition on a constant holds for all of its elements") {
  const auto expand = [](std::string_view slopes) {
    Graph g = Parse(WithConstant("prelu", fmt::format("f32[24] = {}", slopes)));
    const auto rule = ApplyRule(g, g.nodes().front(), Without({"prelu", "less", "select"}));
    REQUIRE(rule.has_value());
    return std::string(*rule);
  };
  CHECK(expand("seeded(1, 0.5)") == "sum");
  std::string infinite = "[";
  for (int i = 0; i < 23; ++i) infinite += "1, ";
  CHECK(expand(infinite + "inf]").empty());
}

TEST_CASE("rules: operators that lead to each other come to an end") {
  const std::string graphs[] = {
      OnX("f32[2]", "atan(%x)"),
      OnX("f32[2]", "asin(%x)"),
      OnX("f32[2]", "is_nan(%x)"),
      "graph { in %a: f32[2] in %b: f32[2] %y = not_equal(%a, %b) out \"y\" = %y }",
  };
  const RuleTarget target = Without({"asin", "atan", "atan2", "is_nan", "equal", "not_equal"});
  for (const std::string& graph : graphs) {
    CAPTURE(graph);
    Graph g = Parse(graph);
    const std::string before = PrintGraph(g);
    const auto rule = ApplyRule(g, g.nodes().front(), target);
    REQUIRE(rule.has_value());
    CHECK(rule->empty());
    CHECK(PrintGraph(g) == before);
  }
}

TEST_CASE("rules: the cheapest one that leads to what the target has") {
  // atan2 has a rule by atan, which has one by atan2.
  const auto expand = [](const std::set<std::string>& lacks) {
    Graph g = Parse(OnX("f32[2]", "asin(%x)"));
    const RuleTarget target = Without(lacks);
    while (true) {
      bool changed = false;
      for (Node& node : g.nodes()) {
        if (!target.why_illegal(node)) continue;
        changed = !ApplyRule(g, node, target)->empty();
        break;
      }
      if (!changed) break;
    }
    std::set<std::string> out;
    for (const Node& node : g.nodes()) out.emplace(node.op_name());
    return out;
  };
  CHECK(expand({"asin"}) == std::set<std::string>{"add", "atan2", "mul", "sqrt", "sub"});
  const auto without = expand({"asin", "atan2"});
  CHECK(without.contains("atan"));
  CHECK_FALSE(without.contains("atan2"));
}

}  // namespace
}  // namespace nn::test::rules_test
