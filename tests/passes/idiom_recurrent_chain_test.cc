// The sequences, states and results of unrolled recurrent layers (passes/idioms/recurrent_chain.h).
#include "passes/idioms/recurrent_chain.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "ir/text/text.h"
#include "passes/unrolled_steps.h"
#include "support/run_graph.h"

namespace nn::test::idiom_recurrent_chain_test {
namespace {

constexpr std::string_view kRnnWeights =
    "const %k: f32[3, 5] = seeded(2) const %r: f32[5, 5] = seeded(3) "
    "const %b: f32[5] = seeded(4) ";
constexpr std::string_view kRnnStep =
    "%p@ = matmul(X, %k) %s@ = add(%p@, %b) %q@ = matmul(H, %r) %z@ = add(%s@, %q@) "
    "%h@ = tanh(%z@)";

// Steps 0 to 3 of a sequence, each by the text of one step.
std::string Inputs(std::string_view text) {
  std::string out;
  for (int t = 0; t < kSteps; ++t) out += StepText(text, "", "", "", t) + " ";
  return out;
}

TEST_CASE("recurrent idioms: where the inputs of the steps come from") {
  const std::string numbers =
      "const %n0: i64[] = [0] const %n1: i64[] = [1] const %n2: i64[] = [2] "
      "const %n3: i64[] = [-1] ";
  const auto of = [](std::string_view inputs, const std::vector<int>& order = {0, 1, 2, 3}) {
    return Text({inputs, kStates, kRnnWeights, StepsText(kRnnStep, order),
                 fmt::format("out \"y\" = %h{} ", order.back())});
  };
  const std::string slices =
      "%u0 = slice(%x) {axes = [0], starts = [0], ends = [1]} "
      "%u1 = slice(%x) {axes = [0], starts = [1], ends = [2]} "
      "%u2 = slice(%x) {axes = [0], starts = [2], ends = [3]} "
      "%u3 = slice(%x) {axes = [0], starts = [-1], ends = [9]} ";
  const std::string squeezed = Inputs("%x@ = squeeze(%u@) {axes = [0]}");
  for (const Spelled& row : std::vector<Spelled>{
           {"slices", of("in %x: f32[4, 2, 3] " + slices + squeezed), "rnn", "", 6},
           {"the opposite order", of("in %x: f32[4, 2, 3] " + slices + squeezed, {3, 2, 1, 0}),
            "rnn", "{direction = reverse}", 6},
           {"a part of the sequence", of("in %x: f32[9, 2, 3] " + slices + squeezed, {1, 2}), "rnn",
            "", 6, 2},
           {"a part in the opposite order", of("in %x: f32[9, 2, 3] " + slices + squeezed, {2, 1}),
            "rnn", "{direction = reverse}", 6, 2},
           {"slices of all axes",
            of("in %x: f32[2, 4, 3] " +
               Inputs("%u@ = slice(%x) {starts = [0, @, 0], ends = [2, 9, 3], steps = [1, 9, 1]} "
                      "%x@ = reshape(%u@) {dims = [2, 3]}")),
            "rnn", "", 6},
           {"gathered along the second axis",
            of("in %x: f32[2, 4, 3] " + numbers + Inputs("%x@ = gather(%x, %n@) {axis = 1}")),
            "rnn", "", 6},
           {"of a transpose",
            of("in %v: f32[2, 4, 3] %x = transpose(%v) {perm = [1, 0, 2]} " + numbers +
               Inputs("%x@ = gather(%x, %n@) {axis = 0}")),
            "rnn", "", 6},
           {"reversed, go_backwards",
            of("in %v: f32[4, 2, 3] %x = reverse(%v) {axes = [0]} " + numbers +
               Inputs("%x@ = gather(%x, %n@) {axis = 0}")),
            "rnn", "{direction = reverse}", 6},
           {"reversed by a slice",
            of("in %v: f32[4, 2, 3] %x = slice(%v) {axes = [0], starts = [3], ends = [-9], "
               "steps = [-1]} " +
               numbers + Inputs("%x@ = gather(%x, %n@) {axis = 0}")),
            "rnn", "{direction = reverse}", 6},
           {"of a sequence with an axis of size 1",
            of("in %x: f32[2, 1, 4, 3] " +
               Inputs("%u@ = slice(%x) {axes = [2], starts = [@], ends = [9], steps = [9]} "
                      "%x@ = squeeze(%u@) {axes = [1, 2]}")),
            "rnn", "", 6},
           {"with two axes of batches",
            of("in %x: f32[4, 1, 2, 3] " + numbers +
               Inputs("%u@ = gather(%x, %n@) {axis = 0} %x@ = reshape(%u@) {dims = [2, 3]}")),
            "rnn", "", 6},
       })
    CheckSpelled(row);
}

TEST_CASE("recurrent idioms: products of whole sequences") {
  const std::string weights =
      "const %k: f32[3, 20] = seeded(2) const %r: f32[5, 20] = seeded(3, 0.5) "
      "const %b: f32[20] = seeded(4) ";
  const std::string_view step =
      "%q@ = matmul(H, %r) %z@ = add(X, %q@) %zi@, %zf@, %zn@, %zo@ = split(%z@) {axis = 1} "
      "%i@ = sigmoid(%zi@) %f@ = sigmoid(%zf@) %fc@ = mul(%f@, C) %n@ = tanh(%zn@) "
      "%in@ = mul(%i@, %n@) %c@ = add(%fc@, %in@) %o@ = sigmoid(%zo@) %a@ = tanh(%c@) "
      "%h@ = mul(%o@, %a@)";
  const std::string unstacked = Inputs(
      "%u@ = slice(%w) {axes = [0], starts = [@], ends = [9], steps = [9]} "
      "%x@ = squeeze(%u@) {axes = [0]}");
  for (const Spelled& row : std::vector<Spelled>{
           {"of [T, B, I]",
            Text({"in %x: f32[4, 2, 3] ", kZeros, weights, "%v = matmul(%x, %k) %w = add(%v, %b) ",
                  unstacked, StepsText(step), kStacked}),
            "lstm", "", 4, kSteps, "concat"},
           {"of rows, as Keras's TimeDistributed does",
            Text({"in %x: f32[2, 4, 3] ", kZeros, weights,
                  "%f = reshape(%x) {dims = [8, 3]} %v = matmul(%f, %k) %d = add(%v, %b) "
                  "%g = reshape(%d) {dims = [2, 4, 20]} %w = transpose(%g) {perm = [1, 0, 2]} ",
                  unstacked, StepsText(step), kStacked}),
            "lstm", "", 4, kSteps, "concat"},
       })
    CheckSpelled(row);
}

TEST_CASE("recurrent idioms: single columns as inputs") {
  // PyTorch's example on time series splits [B, T].
  CheckSpelled({"columns",
                Text({"in %x: f32[2, 4] %x0, %x1, %x2, %x3 = split(%x) {axis = 1} ", kZeros,
                      "const %k: f32[1, 5] = seeded(2) const %r: f32[5, 5] = seeded(3) "
                      "const %b: f32[5] = seeded(4) ",
                      StepsText(kRnnStep), kStacked}),
                "rnn", "", 4, kSteps, "concat"});
  // One unit has gates of one column.
  CheckSpelled({"one unit",
                Text({kUnstacked, "in %h: f32[2, 1] in %c: f32[2, 1] ",
                      "const %k: f32[3, 4] = seeded(2) const %r: f32[1, 4] = seeded(3) "
                      "const %b: f32[4] = seeded(4) ",
                      StepsText(kKerasStep), kLast}),
                "lstm", "", 7});
}

TEST_CASE("recurrent idioms: initial states") {
  const auto of = [](std::string_view states) {
    return Text({kUnstacked, states, kKerasWeights, StepsText(kKerasStep), kLast});
  };
  for (const Spelled& row : std::vector<Spelled>{
           {"one state is zero", of("const %h: f32[2, 5] = splat(0) in %c: f32[2, 5] "), "lstm", "",
            7},
           {"the other is zero", of("const %c: f32[2, 5] = splat(0) in %h: f32[2, 5] "), "lstm", "",
            6},
           {"parts of one value",
            of("in %hc: f32[2, 2, 5] %h1c, %c1c = split(%hc) {axis = 0, sizes = [1, 1]} "
               "%h = squeeze(%h1c) {axes = [0]} %c = squeeze(%c1c) {axes = [0]} "),
            "lstm", "", 7},
           {"constants of the cell",
            of("const %h: f32[2, 5] = splat(0) const %c: f32[2, 5] = seeded(9) "), "lstm", "", 7},
       })
    CheckSpelled(row);
  // Folding leaves only the product with a constant h, so the layer starts at the second step.
  const Graph spelled_out = Parse("graph { " +
                                  Text({kUnstacked, "const %h: f32[1, 5] = seeded(9) ", kRnnWeights,
                                        StepsText(kRnnStep), kLast}) +
                                  "}");
  Graph graph = spelled_out.Clone();
  CHECK(Fused(graph) == Counts{{"rnn", 1}});
  CHECK(Layers(graph)[0]->input(0)->type().dim(0) == kSteps - 1);
  CHECK(LargestDifference(graph, spelled_out) <= 2e-6);
}

// Exporters drop what a zero state makes zero.
TEST_CASE("recurrent idioms: first steps without states") {
  const std::string rest = StepsText(kKerasStep, {1, 2, 3});
  const auto renamed = [](std::string text, std::string_view from, std::string_view to) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  std::string lstm = rest;
  lstm = renamed(lstm, "matmul(%h, ", "matmul(%h0, ");
  lstm = renamed(lstm, "%c)", "%c0)");
  CheckSpelled({"LSTM",
                Text({kUnstacked, kKerasWeights,
                      "%p0 = matmul(%x0, %k) %z0 = add(%p0, %b) "
                      "%zi0, %zf0, %zn0, %zo0 = split(%z0) {axis = 1} %i0 = sigmoid(%zi0) "
                      "%n0 = tanh(%zn0) %c0 = mul(%i0, %n0) %o0 = sigmoid(%zo0) %a0 = tanh(%c0) "
                      "%h0 = mul(%o0, %a0) ",
                      lstm, kLast}),
                "lstm"});
  std::string gru = StepsText(Text({kResetBefore, kBlend}), {1, 2, 3});
  for (const std::string_view place : {"matmul(%h, ", "mul(%g1, %h)", "mul(%z1, %h)"})
    gru = renamed(gru, place, renamed(std::string(place), "%h", "%h0"));
  CheckSpelled({"GRU",
                Text({kUnstacked, kGruWeights,
                      "%p0 = matmul(%x0, %k) %s0 = add(%p0, %b) "
                      "%xz0, %xr0, %xn0 = split(%s0) {axis = 1} %z0 = sigmoid(%xz0) "
                      "%n0 = tanh(%xn0) %zz0 = sub(%one, %z0) %h0 = mul(%zz0, %n0) ",
                      gru, kLast}),
                "gru"});
  std::string rnn = renamed(StepsText(kRnnStep, {1, 2, 3}), "matmul(%h, ", "matmul(%h0, ");
  CheckSpelled({"RNN",
                Text({kUnstacked, kRnnWeights,
                      "%p0 = matmul(%x0, %k) %s0 = add(%p0, %b) %h0 = tanh(%s0) ", rnn, kLast}),
                "rnn"});
}

TEST_CASE("recurrent idioms: the results that are used") {
  const auto of = [](std::string_view results) {
    return Text({kUnstacked, kZeros, kRnnWeights, StepsText(kRnnStep), results});
  };
  const std::string second = Inputs("%e@ = expand_dims(%h@) {axes = [1]}");
  for (const Spelled& row : std::vector<Spelled>{
           {"all, the batch first",
            of(second + "%y = concat(%e0, %e1, %e2, %e3) {axis = 1} out \"y\" = %y "), "rnn", "", 4,
            kSteps, "concat"},
           {"all as rows of one matrix",
            of("%y = concat(%h0, %h1, %h2, %h3) {axis = 1} out \"y\" = %y "), "rnn", "", 4, kSteps,
            "concat"},
           {"all in the opposite order",
            of(second + "%y = concat(%e3, %e2, %e1, %e0) {axis = 1} out \"y\" = %y "), "rnn", "", 4,
            kSteps, "concat"},
           {"some", of("%y = concat(%h1, %h3) {axis = 0} out \"y\" = %y "), "rnn"},
           {"all, and one of them", of(Text({kStacked, "out \"h1\" = %h1 out \"h3\" = %h3 "})),
            "rnn", "", 4, kSteps, "concat"},
       })
    CheckSpelled(row);
}

TEST_CASE("recurrent idioms: a symbolic batch") {
  const std::string text =
      Text({"graph { in %x: f32[4, n, 3] %u0, %u1, %u2, %u3 = split(%x) {axis = 0} ",
            Inputs("%x@ = squeeze(%u@) {axes = [0]}"),
            "const %zero: f32[] = [0] %h = expand(%zero) {dims = [n, 5]} "
            "%c = expand(%zero) {dims = [n, 5]} ",
            kKerasWeights, StepsText(kKerasStep), kStacked, "out \"c\" = %c3 }"});
  Graph graph = Parse(text);
  CHECK(Fused(graph) == Counts{{"lstm", 1}});
  const Node* const layer = Layers(graph)[0];
  CHECK(layer->inputs().size() == 4);
  CHECK(layer->output(2)->type().dim(1) == Dim::Symbol("n"));
  CHECK(graph.nodes().size() == 3);  // with a squeeze for each result
}

TEST_CASE("recurrent idioms: several layers") {
  const std::string more =
      "const %k2: f32[5, 5] = seeded(5) const %r2: f32[5, 5] = seeded(6) "
      "const %g: f32[2, 5] = splat(0) ";
  // The second layer takes each h of the first one.
  std::string second, g = "%g";
  for (int t = 0; t < kSteps; ++t) {
    second += fmt::format(
        "%m{0} = matmul(%h{0}, %k2) %o{0} = matmul({1}, %r2) %v{0} = add(%m{0}, %o{0}) "
        "%g{0} = tanh(%v{0}) ",
        t, g);
    g = fmt::format("%g{}", t);
  }
  // And the other direction of the first one, which is joined to it.
  std::string backward;
  g = "%g";
  for (int t = kSteps - 1; t >= 0; --t) {
    backward += fmt::format(
        "%m{0} = matmul(%x{0}, %k) %o{0} = matmul({1}, %r2) %v{0} = add(%m{0}, %o{0}) "
        "%g{0} = tanh(%v{0}) %j{0} = concat(%h{0}, %g{0}) {{axis = 1}} ",
        t, g);
    g = fmt::format("%g{}", t);
  }
  std::string third;
  g = "%g";
  for (int t = 0; t < kSteps; ++t) {
    third += fmt::format(
        "%mm{0} = matmul(%j{0}, %k3) %oo{0} = matmul({1}, %r3) %vv{0} = add(%mm{0}, %oo{0}) "
        "%gg{0} = relu(%vv{0}) ",
        t, g);
    g = fmt::format("%gg{}", t);
  }
  const std::string first = Text({kUnstacked, kZeros, kRnnWeights, more, StepsText(kRnnStep)});
  struct Row {
    std::string graph;
    uint64_t layers;
  };
  for (const Row& row : {
           Row{first + second + "out \"y\" = %g3 ", 2},
           Row{first + second + "out \"y\" = %g3 out \"h\" = %h2 ", 2},
           Row{first + backward + "out \"y\" = %j1 ", 2},
           Row{first + backward +
                   "const %k3: f32[10, 5] = seeded(7) const %r3: f32[5, 5] = seeded(8) " + third +
                   "out \"y\" = %gg3 ",
               3},
       }) {
    CAPTURE(row.graph);
    const Graph spelled_out = Parse("graph { " + row.graph + "}");
    Graph graph = spelled_out.Clone();
    CHECK(Fused(graph) == Counts{{"rnn", row.layers}});
    CHECK(LargestDifference(graph, spelled_out) <= 2e-6);
  }
}

// The fused operators, of each graph that is almost a layer.
TEST_CASE("recurrent idioms: what is no layer") {
  const std::string keras = StepsText(kKerasStep);
  const auto replaced = [](std::string text, std::string_view from, std::string_view to) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const auto of = [](const std::string& steps, std::string_view results = kLast,
                     std::string_view inputs = kUnstacked) {
    return Text({inputs, kStates, kKerasWeights,
                 "const %k2: f32[3, 20] = seeded(12, 0.5) const %b2: f32[20] = seeded(14) ", steps,
                 results});
  };
  const std::string two = StepsText(kKerasStep, {0, 1});
  struct Row {
    std::string_view name;
    std::string graph;
    Counts counts = {};
  };
  const std::string_view h1 = "out \"y\" = %h1 ";
  for (const Row& row : std::vector<Row>{
           {"a step with other weights", of(replaced(two, "(%x1, %k)", "(%x1, %k2)"), h1)},
           {"a step with another bias", of(replaced(two, "(%s1, %b)", "(%s1, %b2)"), h1)},
           {"a step with another function", of(replaced(two, "tanh(%c1)", "relu(%c1)"), h1)},
           {"gates in another order",
            of(replaced(two, "%zi1, %zf1, %zn1, %zo1", "%zf1, %zi1, %zn1, %zo1"), h1)},
           {"a step with another function for a gate",
            of(replaced(two, "sigmoid(%zf1)", "tanh(%zf1)"), h1)},
           {"steps that are left out", of(StepsText(kKerasStep, {0, 2}), "out \"y\" = %h2 ")},
           {"the same step twice", of(replaced(two, "(%x1, %k)", "(%x0, %k)"), h1)},
           {"inputs of two values",
            of(two, h1,
               "in %x: f32[4, 2, 3] in %v: f32[4, 2, 3] "
               "%u0 = slice(%x) {axes = [0], starts = [0], ends = [1]} "
               "%u1 = slice(%v) {axes = [0], starts = [1], ends = [2]} "
               "%x0 = squeeze(%u0) {axes = [0]} %x1 = squeeze(%u1) {axes = [0]} ")},
           {"inputs that are values of their own",
            of(two, h1, "in %x0: f32[2, 3] in %x1: f32[2, 3] ")},
           {"a cell state inside is used", of(two, "out \"y\" = %h1 out \"c\" = %c0 ")},
           {"a gate inside is used", of(two, "out \"y\" = %h1 out \"o\" = %o1 ")},
           {"h of another step", of(replaced(two, "matmul(%h0, ", "matmul(%h, "), h1)},
           {"c of another step", of(replaced(two, "mul(%f1, %c0)", "mul(%f1, %c)"), h1)},
           {"weights that are not constant",
            replaced(of(two, h1), "const %r: f32[5, 20] = seeded(3, 0.5)", "in %r: f32[5, 20]")},
           {"one step", of(StepsText(kKerasStep, {0}), "out \"y\" = %h0 ")},
           // Two steps remain, and both states leave them.
           {"the last of four steps with other weights",
            of(replaced(keras, "(%x3, %k)", "(%x3, %k2)")),
            {{"lstm", 1}}},
       }) {
    CAPTURE(row.name);
    Graph spelled_out = Parse("graph { " + row.graph + "}");
    REQUIRE(FoldConstants(spelled_out).has_value());
    Graph graph = spelled_out.Clone();
    CHECK(Fused(graph) == row.counts);
    CAPTURE(PrintGraph(graph));
    if (row.counts.empty()) {
      CHECK(graph.nodes().size() == spelled_out.nodes().size());
    } else {
      CHECK(Layers(graph)[0]->input(0)->type().dim(0) == 3);
    }
    CHECK(LargestDifference(graph, spelled_out) <= 2e-6);
  }
}

TEST_CASE("recurrent idioms: only where they are wanted and taken") {
  const std::string text =
      "graph { " + Text({kUnstacked, kZeros, kRnnWeights, StepsText(kRnnStep), kLast}) + "}";
  const auto fused = [&](const IdiomOptions& options) {
    Graph graph = Parse(text);
    REQUIRE(FoldConstants(graph).has_value());
    const size_t nodes = graph.nodes().size();
    const auto counts = FuseIdioms(graph, options);
    REQUIRE(counts.has_value());
    if (counts->empty()) CHECK(graph.nodes().size() == nodes);
    return *counts;
  };
  const Counts one = {{"rnn", 1}};
  CHECK(fused({}) == one);
  CHECK(fused({[](const Node& node) { return node.Is("tanh"); }, nullptr}) == one);
  CHECK(fused({[](const Node& node) { return node.Is("erf"); }, nullptr}).empty());
  CHECK(fused({nullptr, [](const Node&) { return false; }}).empty());
  // The last h as a part of y, where there is no final state.
  CHECK(fused({nullptr, [](const Node& node) { return node.outputs().size() == 1; }}) == one);
}

}  // namespace
}  // namespace nn::test::idiom_recurrent_chain_test
