#include "passes/idioms/idioms.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ir/text/text.h"
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

// The input and constants of the expressions that have no others.
constexpr std::string_view kValues =
    "in %x: f32[3, 4, 16] const %g: f32[16] = seeded(3) const %b: f32[16] = seeded(4)";

Graph GraphOf(std::string_view expression, std::string_view values = kValues,
              std::string_view more_outputs = "") {
  Lines lines;
  const std::string y = lines.Add(expression);
  std::string more;
  if (!more_outputs.empty()) more = fmt::format("out \"more\" = {}\n", lines.Add(more_outputs));
  return Parse(fmt::format("graph {{ {}\n{}out \"y\" = {}\n{} }}", values, lines.text(), y, more));
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
  std::string_view values = kValues;
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
      {"log_sigmoid", "log(sigmoid(%x))", "log_sigmoid"},
      {"log_sigmoid by softplus", "neg(softplus(neg(%x)))", "log_sigmoid"},
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
      {"l2_normalization as functional.normalize, by clip",
       "div(%x, expand(clip(reduce_l2(%x) {axes = [-1]}) {min = 0.001}) {dims = [3, 4, 16]})",
       "l2_normalization", "epsilon = 0.001"},
      {"l2_normalization, epsilon added", "div(%x, add(reduce_l2(%x) {axes = [-1]}, 0.001))",
       "l2_normalization", "outside"},
      {"l2_normalization, epsilon inside",
       "mul(%x, reciprocal(sqrt(add(reduce_sum(mul(%x, %x)) {axes = [-1]}, 0.001))))",
       "l2_normalization", "inside"},
  };
}

// Four channels first, or last; parameters for each.
constexpr std::string_view kFirst =
    "in %x: f32[3, 4, 5, 7] const %g: f32[4, 1, 1] = seeded(3) const %b: f32[1, 4, 1, 1] = "
    "seeded(4) const %s: f32[4] = seeded(5) const %t: f32[4] = seeded(6)";
constexpr std::string_view kLast =
    "in %x: f32[3, 5, 7, 4] const %g: f32[4] = seeded(3) const %b: f32[1, 1, 1, 4] = seeded(4)";
// Six channels in groups of two.
constexpr std::string_view kGroups =
    "in %x: f32[2, 6, 4, 5] const %g: f32[6, 1, 1] = seeded(3) const %b: f32[6, 1, 1] = seeded(4) "
    "const %one: f32[3] = splat(1) const %zero: f32[3] = splat(0) const %s: f32[3] = seeded(5) "
    "const %t: f32[3] = seeded(6)";
constexpr std::string_view kLastGroups =
    "in %x: f32[2, 4, 5, 6] const %g: f32[1, 1, 1, 3, 2] = seeded(3) const %b: f32[3, 2] = "
    "seeded(4) const %c: f32[6] = seeded(5)";

// The expression with its letters replaced by the mean M of a value over some axes, the difference
// D from it, and the variance V, by a product, or S, by squared_difference.
std::string WithMoments(std::string_view expression, const std::string& value,
                        const std::string& axes) {
  const std::string mean = fmt::format("reduce_mean({}) {{axes = {}}}", value, axes);
  const std::string difference = fmt::format("sub({}, {})", value, mean);
  std::string out;
  for (const char c : expression) {
    if (c == 'M')
      out += mean;
    else if (c == 'D')
      out += difference;
    else if (c == 'V')
      out += fmt::format("reduce_mean(mul({0}, {0})) {{axes = {1}}}", difference, axes);
    else if (c == 'S')
      out +=
          fmt::format("reduce_mean(squared_difference({}, {})) {{axes = {}}}", value, mean, axes);
    else
      out += c;
  }
  return out;
}

struct NormRow {
  std::string_view name;
  std::string expression;
  std::string_view op;
  std::string_view attrs;
  size_t inputs;
  std::string_view values;
};

// tf.nn.batch_normalization of tf.nn.moments
std::string Tensorflow(const std::string& value, const std::string& axes) {
  const std::string factor = "mul(rsqrt(add(S, 0.001)), %g)";
  return WithMoments(fmt::format("add(mul({}, {}), sub(%b, mul(M, {})))", value, factor, factor),
                     value, axes);
}

std::vector<NormRow> NormRows() {
  const std::string grouped = "reshape(%x) {dims = [2, 3, 2, 4, 5]}";
  const std::string grouped_last = "reshape(%x) {dims = [2, 4, 5, 3, 2]}";
  const std::string normal = "div(D, sqrt(add(V, 0.001)))";
  return {
      {"group_norm as PyTorch writes it",
       "add(mul(reshape(instance_norm(reshape(%x) {dims = [2, 3, 40]}, %one, %zero) {epsilon = "
       "0.001}) {dims = [2, 6, 4, 5]}, %g), %b)",
       "group_norm", "groups = 3, epsilon = 0.001", 3, kGroups},
      {"group_norm with parameters for the groups, too",
       "add(%b, mul(%g, reshape(instance_norm(reshape(%x) {dims = [2, 3, 40]}, %s, %t) {epsilon = "
       "0.001}) {dims = [2, 6, 4, 5]}))",
       "group_norm", "groups = 3, epsilon = 0.001", 3, kGroups},
      {"group_norm with parameters for the groups only",
       "reshape(instance_norm(reshape(%x) {dims = [2, 3, 2, 20]}, %s, %t)) {dims = [2, 6, 4, 5]}",
       "group_norm", "groups = 3", 3, kGroups},
      {"instance_norm between reshapes",
       "add(mul(reshape(instance_norm(reshape(%x) {dims = [3, 4, 35]}, %s, %t)) {dims = [3, 4, 5, "
       "7]}, %g), %b)",
       "instance_norm", "", 3, kFirst},
      {"instance_norm and parameters", "add(mul(instance_norm(%x, %s, %t), %g), %b)",
       "instance_norm", "", 3, kFirst},
      {"group_norm by moments",
       "add(mul(reshape(" + WithMoments(normal, grouped, "[2, 3, 4]") +
           ") {dims = [2, 6, 4, 5]}, %g), %b)",
       "group_norm", "groups = 3, epsilon = 0.001", 3, kGroups},
      {"group_norm by moments, no parameters",
       "reshape(" + WithMoments(normal, grouped, "[-1, -2, -3]") + ") {dims = [2, 6, 4, 5]}",
       "group_norm", "groups = 3, epsilon = 0.001", 3, kGroups},
      {"group_norm by moments, channels last",
       "add(mul(reshape(" + WithMoments(normal, grouped_last, "[1, 2, 4]") +
           ") {dims = [2, 4, 5, 6]}, %c), %c)",
       "group_norm", "groups = 3, epsilon = 0.001, layout = nxc", 3, kLastGroups},
      {"group_norm as Keras writes it",
       "reshape(" + Tensorflow(grouped_last, "[1, 2, 4]") + ") {dims = [2, 4, 5, 6]}", "group_norm",
       "groups = 3, epsilon = 0.001, layout = nxc", 3, kLastGroups},
      {"instance_norm by moments",
       WithMoments("add(mul(div(D, sqrt(add(V, 0.001))), %g), %b)", "%x", "[2, 3]"),
       "instance_norm", "epsilon = 0.001", 3, kFirst},
      {"instance_norm by moments, channels last",
       WithMoments("add(mul(div(D, sqrt(add(V, 0.001))), %g), %b)", "%x", "[1, 2]"),
       "instance_norm", "epsilon = 0.001, layout = nxc", 3, kLast},
      {"instance_norm by moments, channels last, no parameters",
       WithMoments("mul(D, rsqrt(add(S, 0.001)))", "%x", "[1, 2]"), "instance_norm",
       "epsilon = 0.001, layout = nxc", 3, kLast},
      {"instance_norm as TensorFlow writes it", Tensorflow("%x", "[1, 2]"), "instance_norm",
       "epsilon = 0.001, layout = nxc", 3, kLast},
      {"batch_norm in training",
       WithMoments("add(mul(div(D, sqrt(add(V, 0.001))), %g), %b)", "%x", "[0, 2, 3]"),
       "batch_norm", "epsilon = 0.001", 5, kFirst},
      {"batch_norm as TensorFlow trains it", Tensorflow("%x", "[0, 1, 2]"), "batch_norm",
       "epsilon = 0.001, layout = nxc", 5, kLast},
      {"layer_norm as TensorFlow writes it", Tensorflow("%x", "[2]"), "layer_norm",
       "axis = 2, epsilon = 0.001", 3, kValues},
      {"layer_norm with rsqrt and squared_difference",
       WithMoments("add(mul(mul(D, rsqrt(add(S, 0.001))), %g), %b)", "%x", "[-1]"), "layer_norm",
       "axis = 2, epsilon = 0.001", 3, kValues},
  };
}

void CheckRow(const Row& row, double tolerance) {
  CAPTURE(row.name);
  const Graph spelled_out = GraphOf(row.expression, row.values);
  Graph graph = spelled_out.Clone();
  const auto counts = Fused(graph);
  CAPTURE(PrintGraph(graph));
  REQUIRE(counts.size() == 1);
  REQUIRE(counts.contains(row.op));
  CHECK(counts.at(row.op) == 1);
  const Node& node = graph.nodes().back();
  CHECK(node.op_name() == row.op);
  CHECK(node.inputs().size() == row.inputs);
  CHECK(PrintGraph(graph).find(row.attrs) != std::string::npos);
  CHECK(LargestDifference(graph, spelled_out) <= tolerance);
}

TEST_CASE("idioms: each is one operator that computes the same") {
  for (const Row& row : Rows()) CheckRow(row, 2e-6);
  for (const NormRow& row : NormRows())
    CheckRow({row.name, row.expression, row.op, row.attrs, row.inputs, row.values}, 2e-6);
}

TEST_CASE("idioms: blocks of images, to the bit") {
  const std::vector<Row> rows = {
      {"pixel_shuffle as PyTorch writes it",
       "reshape(transpose(reshape(%x) {dims = [2, 2, 3, 3, 4, 5]}) {perm = [0, 1, 4, 2, 5, 3]}) "
       "{dims = [2, 2, 12, 15]}",
       "depth_to_space", "block = 3, mode = crd", 1, "in %x: f32[2, 18, 4, 5]"},
      {"pixel_unshuffle as PyTorch writes it",
       "reshape(transpose(reshape(%x) {dims = [2, 2, 4, 3, 5, 3]}) {perm = [0, 1, 3, 5, 2, 4]}) "
       "{dims = [2, 18, 4, 5]}",
       "space_to_depth", "block = 3, mode = crd", 1, "in %x: f32[2, 2, 12, 15]"},
      {"depth_to_space, positions first",
       "reshape(transpose(reshape(%x) {dims = [2, 3, 3, 2, 4, 5]}) {perm = [0, 3, 4, 1, 5, 2]}) "
       "{dims = [2, 2, 12, 15]}",
       "depth_to_space", "block = 3", 1, "in %x: f32[2, 18, 4, 5]"},
      {"channels last",
       "reshape(transpose(reshape(%x) {dims = [2, 4, 5, 2, 2, 3]}) {perm = [0, 1, 3, 2, 4, 5]}) "
       "{dims = [2, 8, 10, 3]}",
       "depth_to_space", "layout = nxc", 1, "in %x: f32[2, 4, 5, 12]"},
      {"space_to_depth, channels last, axes joined",
       "reshape(transpose(reshape(%x) {dims = [8, 2, 5, 6]}) {perm = [0, 2, 1, 3]}) "
       "{dims = [2, 4, 5, 12]}",
       "space_to_depth", "layout = nxc", 1, "in %x: f32[2, 8, 10, 3]"},
      {"one spatial axis",
       "reshape(transpose(reshape(%x) {dims = [2, 3, 2, 5]}) {perm = [0, 1, 3, 2]}) "
       "{dims = [2, 3, 10]}",
       "depth_to_space", "", 1, "in %x: f32[2, 6, 5]"},
      {"integers",
       "reshape(transpose(reshape(%x) {dims = [1, 2, 2, 2, 3, 3]}) {perm = [0, 1, 4, 2, 5, 3]}) "
       "{dims = [1, 2, 6, 6]}",
       "depth_to_space", "crd", 1, "in %x: i32[1, 8, 3, 3]"},
  };
  for (const Row& row : rows) CheckRow(row, 0);
}

TEST_CASE("idioms: moves that are no blocks stay") {
  for (const auto& moves : {
           // A shuffle of channels.
           std::pair("in %x: f32[2, 6, 4, 5]",
                     "reshape(transpose(reshape(%x) {dims = [2, 2, 3, 4, 5]}) {perm = [0, 2, 1, 3, "
                     "4]}) {dims = [2, 6, 4, 5]}"),
           // Rows and columns of the blocks are exchanged.
           std::pair("in %x: f32[2, 18, 4, 5]",
                     "reshape(transpose(reshape(%x) {dims = [2, 2, 3, 3, 4, 5]}) {perm = [0, 1, 4, "
                     "3, 5, 2]}) {dims = [2, 2, 12, 15]}"),
           // Not square.
           std::pair("in %x: f32[2, 12, 4, 5]",
                     "reshape(transpose(reshape(%x) {dims = [2, 2, 3, 2, 4, 5]}) {perm = [0, 1, 4, "
                     "2, 5, 3]}) {dims = [2, 2, 12, 10]}"),
           // Groups that the result does not have.
           std::pair("in %x: f32[2, 6, 4, 5] const %s: f32[3] = seeded(5)",
                     "reshape(instance_norm(reshape(%x) {dims = [2, 3, 40]}, %s, %s)) {dims = [2, "
                     "6, 5, 4]}"),
       }) {
    CAPTURE(moves.second);
    Graph graph = GraphOf(moves.second, moves.first);
    const std::string before = PrintGraph(graph);
    CHECK(Fused(graph).empty());
    CHECK(PrintGraph(graph) == before);
  }
}

TEST_CASE("idioms: what is computed twice is the same, unless it is used elsewhere") {
  const auto text = [](std::string_view second, std::string_view more) {
    return fmt::format(R"(graph {{ in %x: f32[3, 4, 16]
      const %two: f32[] = [2] const %epsilon: f32[] = [0.001]
      const %g: f32[16] = seeded(3) const %b: f32[16] = seeded(4)
      %mean = reduce_mean(%x) {{axes = [-1]}} %d = sub(%x, %mean)
      %again = {} %square = pow(%d, %two) %variance = reduce_mean(%square) {{axes = [-1]}}
      %sum = add(%variance, %epsilon) %root = sqrt(%sum) %q = div(%e, %root)
      %m = mul(%q, %g) %y = add(%m, %b) out "y" = %y {} }})",
                       second, more);
  };
  for (const std::string_view second :
       {"reduce_mean(%x) {axes = [-1]} %e = sub(%x, %again)", "neg(%x) %e = sub(%x, %mean)"}) {
    CAPTURE(second);
    const Graph spelled_out = Parse(text(second, ""));
    Graph graph = spelled_out.Clone();
    CHECK(Fused(graph).at("layer_norm") == 1);
    CHECK(graph.nodes().size() == 1);
    CHECK(LargestDifference(graph, spelled_out) <= 2e-6);
  }
  for (const auto& [second, more] :
       {std::pair("reduce_mean(%x) {axes = [1]} %e = sub(%x, %again)", ""),
        std::pair("reduce_max(%x) {axes = [-1]} %e = sub(%x, %again)", ""),
        std::pair("reduce_mean(%x) {axes = [-1]} %e = sub(%again, %x)", ""),
        std::pair("neg(%x) %e = sub(%x, %mean)", "out \"e\" = %e")}) {
    Graph graph = Parse(text(second, more));
    CHECK(!Fused(graph).contains("layer_norm"));
  }
}

TEST_CASE("idioms: operators that are not taken leave nothing behind") {
  for (const NormRow& row : NormRows()) {
    CAPTURE(row.name);
    Graph graph = GraphOf(row.expression, row.values);
    const std::string before = PrintGraph(graph);
    const auto counts = FuseIdioms(graph, {nullptr, [](const Node&) { return false; }});
    REQUIRE(counts.has_value());
    CHECK(counts->empty());
    CHECK(PrintGraph(graph) == before);
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
  Graph graph = GraphOf("mul(mul(%x, add(erf(div(%x, 1.4142135)), 1)), 0.5)", kValues,
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
  Graph blocks = Parse(R"(graph { in %x: f32[n, 8, h, w]
      %s = reshape(%x) {dims = [n, 2, 2, 2, h, w]}
      %t = transpose(%s) {perm = [0, 1, 4, 2, 5, 3]}
      %y = reshape(%t) {dims = [n, 2, 2*h, 2*w]} out "y" = %y })");
  CHECK(Fused(blocks).at("depth_to_space") == 1);
  CHECK(blocks.outputs()[0].value->type().ToString() == "f32[n, 2, 2*h, 2*w]");
  Graph groups = Parse(R"(graph { in %x: f32[n, 8, h, w]
      const %one: f32[2] = splat(1) const %zero: f32[2] = splat(0)
      const %g: f32[8, 1, 1] = seeded(1)  const %b: f32[8, 1, 1] = seeded(2)
      %s = reshape(%x) {dims = [n, 2, 4*h*w]} %i = instance_norm(%s, %one, %zero)
      %r = reshape(%i) {dims = [n, 8, h, w]} %m = mul(%r, %g) %y = add(%m, %b) out "y" = %y })");
  CHECK(Fused(groups).at("group_norm") == 1);
  Graph half =
      Parse(R"(graph { in %x: f16[n, 8] %s = sigmoid(%x) %y = mul(%x, %s) out "y" = %y })");
  CHECK(Fused(half).empty());
}

}  // namespace
}  // namespace nn::test::idioms_test
