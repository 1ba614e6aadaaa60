// Unrolled recurrent layers (passes/idioms/recurrent.h).
#include "passes/idioms/recurrent.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "ir/text/text.h"
#include "ops/recurrent/unroll.h"
#include "passes/unrolled_steps.h"
#include "support/run_graph.h"

namespace nn::test::idiom_recurrent_test {
namespace {

void Unroll(Graph& graph) {
  std::vector<Node*> layers;
  for (Node& node : graph.nodes())
    if (node.op().category == Category::kRecurrent) layers.push_back(&node);
  for (Node* const node : layers) {
    const auto unrolled = UnrollRecurrent(graph, *node);
    REQUIRE(unrolled.has_value());
    REQUIRE(*unrolled);
  }
  REQUIRE(Layers(graph).empty());
}

// ---- Layers that were unrolled by the library ---------------------------------------------------

struct Layer {
  std::string_view op;
  std::string_view attrs = "";
  std::string_view more = ", %b";  // operands behind the weights
  std::string_view results = "y";  // of y, h, c
};

std::string TextOf(const Layer& layer) {
  const int gates = layer.op == "lstm" ? 4 : layer.op == "gru" ? 3 : 1;
  std::string out = fmt::format(
      "graph {{ in %x: f32[4, 2, 3] in %h0: f32[1, 2, 5] in %c0: f32[1, 2, 5] "
      "const %w: f32[1, {0}, 3] = seeded(2, 0.5) const %r: f32[1, {0}, 5] = seeded(3, 0.5) "
      "const %b: f32[1, {1}] = seeded(4, 0.5) const %p: f32[1, 15] = seeded(5, 0.5) "
      "%y, %h{2} = {3}(%x, %w, %r{4}) {5}",
      5 * gates, 10 * gates, gates == 4 ? ", %c" : "", layer.op, layer.more, Braced(layer.attrs));
  for (const char result : layer.results) out += fmt::format(" out \"{0}\" = %{0}", result);
  return out + " }";
}

TEST_CASE("recurrent idioms: unrolled layers become the same layers") {
  for (const Layer& layer : std::vector<Layer>{
           {"rnn"},
           {"rnn", "", ""},
           {"rnn", "direction = reverse", ", %b, _, %h0", "yh"},
           {"rnn", "", ", %b", "h"},
           {"rnn", "activations = [\"relu\"], alpha = [0], beta = [0]"},
           {"rnn", "activations = [\"elu\"], alpha = [0.5], beta = [0]"},
           {"rnn", "activations = [\"leaky_relu\"], alpha = [0.125], beta = [0]"},
           {"rnn", "activations = [\"softplus\"], alpha = [0], beta = [0]"},
           {"rnn", "activations = [\"softsign\"], alpha = [0], beta = [0]"},
           {"rnn", "activations = [\"sigmoid\"], alpha = [0], beta = [0]"},
           {"rnn", "activations = [\"thresholded_relu\"], alpha = [0.25], beta = [0]"},
           {"rnn", "activations = [\"hard_sigmoid\"], alpha = [0.25], beta = [0.5]"},
           {"rnn", "activations = [\"scaled_tanh\"], alpha = [1.5], beta = [0.5]"},
           {"rnn", "clip = 0.5"},
           {"gru"},
           {"gru", "", ""},
           {"gru", "", ", %b, _, %h0", "yh"},
           {"gru", "direction = reverse", ", %b", "h"},
           {"gru", "linear_before_reset = true"},
           {"gru", "linear_before_reset = true", ", %b, _, %h0", "yh"},
           {"gru", "linear_before_reset = true", ""},
           {"gru", "clip = 0.25, linear_before_reset = true"},
           {"gru",
            "activations = [\"hard_sigmoid\", \"softsign\"], alpha = [0.25, 0], beta = [0.5, 0]"},
           {"lstm"},
           {"lstm", "", ""},
           {"lstm", "", ", %b, _, %h0, %c0", "yhc"},
           {"lstm", "", ", %b, _, _, %c0", "h"},
           {"lstm", "direction = reverse", ", %b", "yc"},
           {"lstm", "", ", %b, _, %h0, %c0, %p", "yhc"},
           {"lstm", "", ", %b, _, _, _, %p"},
           {"lstm", "input_forget = true"},
           {"lstm", "cell_clip = 0.125"},
           {"lstm", "clip = 0.5, input_forget = true", ", %b, _, _, _, %p", "hc"},
           {"lstm",
            "activations = [\"sigmoid\", \"softsign\", \"relu\"], alpha = [0, 0, 0], "
            "beta = [0, 0, 0]"},
           {"lstm",
            "activations = [\"hard_sigmoid\", \"tanh\", \"tanh\"], alpha = [0.25, 0, 0], "
            "beta = [0.5, 0, 0]"},
       }) {
    const std::string text = TextOf(layer);
    CAPTURE(text);
    const Graph original = Parse(text);
    Graph graph = original.Clone();
    Unroll(graph);
    const Counts counts = Fused(graph);
    CAPTURE(PrintGraph(graph));
    REQUIRE(counts == Counts{{layer.op, 1}});
    const auto layers = Layers(graph);
    REQUIRE(layers.size() == 1);
    // The text form ignores the order of attributes.
    const Node* const wanted = Layers(original)[0];
    CHECK(layers[0]->attrs().ToString() == wanted->attrs().ToString());
    CHECK(layers[0]->inputs().size() == wanted->inputs().size());
    CHECK(layers[0]->input(0)->type() == wanted->input(0)->type());
    CHECK(LargestDifference(graph, original) <= 1e-6);
  }
}

// ---- Steps as exporters write them --------------------------------------------------------------

TEST_CASE("recurrent idioms: LSTM") {
  const std::string keras = StepsText(kKerasStep);
  for (
      const Spelled& row : std::vector<Spelled>{
          {"Keras", Text({kUnstacked, kZeros, kKerasWeights, keras, kStacked}), "lstm", "", 4,
           kSteps, "concat"},
          {"Keras, the last step", Text({kUnstacked, kZeros, kKerasWeights, keras, kLast}), "lstm"},
          {"Keras, from states",
           Text({kUnstacked, kStates, kKerasWeights, keras, kLast, "out \"c\" = %c3 "}), "lstm", "",
           7},
          {"Keras, implementation 1",
           Text({kUnstacked, kZeros,
                 "const %ki: f32[3, 5] = seeded(2) const %kf: f32[3, 5] = seeded(3) "
                 "const %kn: f32[3, 5] = seeded(4) const %ko: f32[3, 5] = seeded(5) "
                 "const %ri: f32[5, 5] = seeded(6) const %rf: f32[5, 5] = seeded(7) "
                 "const %rn: f32[5, 5] = seeded(8) const %ro: f32[5, 5] = seeded(9) "
                 "const %bi: f32[5] = seeded(10) const %bf: f32[5] = splat(1) "
                 "const %bn: f32[5] = seeded(11) const %bo: f32[5] = seeded(12) ",
                 StepsText("%xi@ = matmul(X, %ki) %yi@ = add(%xi@, %bi) %hi@ = matmul(H, %ri) "
                           "%zi@ = add(%yi@, %hi@) %i@ = sigmoid(%zi@) "
                           "%xf@ = matmul(X, %kf) %yf@ = add(%xf@, %bf) %hf@ = matmul(H, %rf) "
                           "%zf@ = add(%yf@, %hf@) %f@ = sigmoid(%zf@) %fc@ = mul(%f@, C) "
                           "%xn@ = matmul(X, %kn) %yn@ = add(%xn@, %bn) %hn@ = matmul(H, %rn) "
                           "%zn@ = add(%yn@, %hn@) %n@ = tanh(%zn@) %in@ = mul(%i@, %n@) "
                           "%c@ = add(%fc@, %in@) %xo@ = matmul(X, %ko) %yo@ = add(%xo@, %bo) "
                           "%ho@ = matmul(H, %ro) %zo@ = add(%yo@, %ho@) %o@ = sigmoid(%zo@) "
                           "%a@ = tanh(%c@) %h@ = mul(%o@, %a@)"),
                 kLast}),
           "lstm"},
          {"Keras 2, hard sigmoid",
           Text({kUnstacked, kZeros, kKerasWeights,
                 "const %fifth: f32[] = [0.2] const %half: f32[] = [0.5] "
                 "const %zero: f32[] = [0] const %one: f32[] = [1] ",
                 StepsText(
                     "%p@ = matmul(X, %k) %q@ = matmul(H, %r) %s@ = add(%p@, %q@) "
                     "%z@ = add(%s@, %b) %zi@, %zf@, %zn@, %zo@ = split(%z@) {axis = 1} "
                     "%ai@ = mul(%zi@, %fifth) %bi@ = add(%ai@, %half) %i@ = clip(%bi@) "
                     "{min = 0, max = 1} %af@ = mul(%zf@, %fifth) %bf@ = add(%af@, %half) "
                     "%ff@ = minimum(%bf@, %one) %f@ = maximum(%ff@, %zero) %fc@ = mul(%f@, C) "
                     "%n@ = tanh(%zn@) %in@ = mul(%i@, %n@) %c@ = add(%fc@, %in@) "
                     "%o@ = hard_sigmoid(%zo@) {alpha = 0.2, beta = 0.5} %a@ = tanh(%c@) "
                     "%h@ = mul(%o@, %a@)"),
                 kLast}),
           "lstm",
           "{activations = [\"hard_sigmoid\", \"tanh\", \"tanh\"], alpha = [0.2, 0.0, 0.0], "
           "beta = [0.5, 0.0, 0.0]}"},
          {"Keras 3, hard sigmoid",
           Text({kUnstacked, kZeros, kKerasWeights,
                 "const %three: f32[] = [3] const %six: f32[] = [6] ",
                 StepsText("%p@ = matmul(X, %k) %q@ = matmul(H, %r) %s@ = add(%p@, %q@) "
                           "%z@ = add(%s@, %b) %zi@, %zf@, %zn@, %zo@ = split(%z@) {axis = 1} "
                           "%ai@ = add(%zi@, %three) %bi@ = clip(%ai@) {min = 0, max = 6} "
                           "%i@ = div(%bi@, %six) %af@ = add(%zf@, %three) "
                           "%bf@ = clip(%af@) {min = 0, max = 6} %f@ = div(%bf@, %six) "
                           "%fc@ = mul(%f@, C) %n@ = relu(%zn@) %in@ = mul(%i@, %n@) "
                           "%c@ = add(%fc@, %in@) %ao@ = add(%zo@, %three) "
                           "%bo@ = clip(%ao@) {min = 0, max = 6} %o@ = div(%bo@, %six) "
                           "%a@ = relu(%c@) %h@ = mul(%o@, %a@)"),
                 kLast}),
           "lstm",
           "{activations = [\"hard_sigmoid\", \"relu\", \"relu\"], alpha = [0.16666667, 0.0, 0.0], "
           "beta = [0.5, 0.0, 0.0]}"},
          {"TensorFlow's BasicLSTMCell",
           Text({kUnstacked, kZeros,
                 "const %k: f32[8, 20] = seeded(2, 0.5) const %b: f32[20] = seeded(3) "
                 "const %forget: f32[] = [1] ",
                 StepsText(
                     "%xh@ = concat(X, H) {axis = 1} %p@ = matmul(%xh@, %k) %z@ = add(%p@, %b) "
                     "%zi@, %zn@, %zf@, %zo@ = split(%z@) {axis = 1} "
                     "%zg@ = add(%zf@, %forget) %f@ = sigmoid(%zg@) %fc@ = mul(C, %f@) "
                     "%i@ = sigmoid(%zi@) %n@ = tanh(%zn@) %in@ = mul(%i@, %n@) "
                     "%c@ = add(%fc@, %in@) %a@ = tanh(%c@) %o@ = sigmoid(%zo@) "
                     "%h@ = mul(%a@, %o@)"),
                 kLast}),
           "lstm"},
          {"PyTorch's LSTMCell",
           Text({kUnstacked, kStates,
                 "const %k: f32[20, 3] = seeded(2) const %r: f32[20, 5] = seeded(3) "
                 "const %kb: f32[20] = seeded(4) const %rb: f32[20] = seeded(5) ",
                 StepsText("%p@ = matmul(X, %k, %kb) {transpose_b = true} "
                           "%q@ = matmul(H, %r, %rb) {transpose_b = true} %z@ = add(%p@, %q@) "
                           "%zi@ = slice(%z@) {axes = [1], starts = [0], ends = [5]} "
                           "%zf@ = slice(%z@) {axes = [1], starts = [5], ends = [10]} "
                           "%zn@ = slice(%z@) {axes = [1], starts = [10], ends = [15]} "
                           "%zo@ = slice(%z@) {axes = [1], starts = [15], ends = [20]} "
                           "%i@ = sigmoid(%zi@) %f@ = sigmoid(%zf@) %n@ = tanh(%zn@) "
                           "%o@ = sigmoid(%zo@) %fc@ = mul(%f@, C) %in@ = mul(%i@, %n@) "
                           "%c@ = add(%fc@, %in@) %a@ = tanh(%c@) %h@ = mul(%o@, %a@)"),
                 kStacked}),
           "lstm", "", 7},
          {"PyTorch's decomposition, reversed",
           Text({"in %x: f32[4, 2, 3] const %h: f32[1, 2, 5] = splat(0) "
                 "const %c: f32[1, 2, 5] = splat(0) const %k: f32[20, 3] = seeded(2) "
                 "const %r: f32[20, 5] = seeded(3) const %kb: f32[20] = seeded(4) "
                 "const %rb: f32[20] = seeded(5) "
                 "%w = matmul(%x, %k, %kb) {transpose_b = true} %g = reverse(%w) {axes = [0]} "
                 "const %n0: i64[] = [0] const %n1: i64[] = [1] const %n2: i64[] = [2] "
                 "const %n3: i64[] = [-1] ",
                 StepsText("%g@ = gather(%g, %n@) {axis = 0} %u@ = expand_dims(%g@) {axes = [0]} "
                           "%q@ = matmul(H, %r, %rb) {transpose_b = true} %z@ = add(%q@, %u@) "
                           "%zi@, %zf@, %zn@, %zo@ = split(%z@) {axis = 2} %i@ = sigmoid(%zi@) "
                           "%f@ = sigmoid(%zf@) %d@ = tanh(%zn@) %o@ = sigmoid(%zo@) "
                           "%fc@ = mul(%f@, C) %in@ = mul(%i@, %d@) %c@ = add(%fc@, %in@) "
                           "%a@ = tanh(%c@) %h@ = mul(%o@, %a@)"),
                 "%all = concat(%h0, %h1, %h2, %h3) {axis = 0} "
                 "%y = reverse(%all) {axes = [0]} out \"y\" = %y "}),
           "lstm", "{direction = reverse}", 4, kSteps, "reverse"},
      })
    CheckSpelled(row);
}

TEST_CASE("recurrent idioms: GRU") {
  const auto after = [](std::string_view initial, std::string_view blend) {
    return Text({kUnstacked, initial, kGruWeights, StepsText(Text({kResetAfter, blend})), kLast});
  };
  const std::string_view linear = "{linear_before_reset = true}";
  for (const Spelled& row : std::vector<Spelled>{
           {"Keras, reset_after", after(kZeros, kBlend), "gru", linear},
           {"Keras, reset_after, from a state", after(kStates, kBlend), "gru", linear, 6},
           {"Keras, reset before",
            Text({kUnstacked, kZeros, kGruWeights, StepsText(Text({kResetBefore, kBlend})),
                  kStacked}),
            "gru", "", 4, kSteps, "concat"},
           {"Keras, reset before, from a state",
            Text({kUnstacked, kStates, kGruWeights, StepsText(Text({kResetBefore, kBlend})),
                  kStacked}),
            "gru", "", 6, kSteps, "concat"},
           {"PyTorch's GRUCell",
            after(kStates, "%d@ = sub(H, %n@) %e@ = mul(%d@, %z@) %h@ = add(%n@, %e@)"), "gru",
            linear, 6},
           {"one product less",
            after(kStates,
                  "%zh@ = mul(H, %z@) %zn@ = mul(%z@, %n@) %d@ = sub(%n@, %zn@) "
                  "%h@ = add(%d@, %zh@)"),
            "gru", linear, 6},
           {"z of the candidate",
            after(kStates,
                  "%zn@ = mul(%z@, %n@) %zz@ = sub(%one, %z@) %zh@ = mul(%zz@, H) "
                  "%h@ = add(%zh@, %zn@)"),
            "gru", linear, 6},
           {"z of the candidate, by a difference",
            after(kZeros, "%d@ = sub(H, %n@) %e@ = mul(%z@, %d@) %h@ = sub(H, %e@)"), "gru",
            linear},
           {"TensorFlow's GRUCell, which splits after the function",
            Text({kUnstacked, kStates,
                  "const %k: f32[8, 10] = seeded(2) const %b: f32[10] = splat(1) "
                  "const %kn: f32[8, 5] = seeded(3) const %bn: f32[5] = seeded(4) "
                  "const %one: f32[] = [1] ",
                  StepsText(Text(
                      {"%xh@ = concat(X, H) {axis = 1} %p@ = matmul(%xh@, %k) %a@ = add(%p@, %b) "
                       "%s@ = sigmoid(%a@) %g@, %z@ = split(%s@) {axis = 1} %gh@ = mul(%g@, H) "
                       "%xg@ = concat(X, %gh@) {axis = 1} %q@ = matmul(%xg@, %kn) "
                       "%an@ = add(%q@, %bn) %n@ = tanh(%an@) ",
                       kBlend})),
                  kLast}),
            "gru", "", 6},
       })
    CheckSpelled(row);
}

TEST_CASE("recurrent idioms: simple layers") {
  const std::string_view weights =
      "const %k: f32[3, 5] = seeded(2) const %r: f32[5, 5] = seeded(3) "
      "const %b: f32[5] = seeded(4) ";
  for (const Spelled& row : std::vector<Spelled>{
           {"Keras",
            Text({kUnstacked, kZeros, weights,
                  StepsText("%p@ = matmul(X, %k) %s@ = add(%p@, %b) %q@ = matmul(H, %r) "
                            "%z@ = add(%s@, %q@) %h@ = tanh(%z@)"),
                  kStacked}),
            "rnn", "", 4, kSteps, "concat"},
           {"linear",
            Text({kUnstacked, kStates, weights,
                  StepsText("%p@ = matmul(X, %k) %s@ = add(%p@, %b) %q@ = matmul(H, %r) "
                            "%h@ = add(%s@, %q@)"),
                  kStacked}),
            "rnn", "{activations = [\"affine\"], alpha = [1.0], beta = [0.0]}", 6},
           {"PyTorch's RNNCell without a bias",
            Text({kUnstacked, kStates,
                  "const %k: f32[5, 3] = seeded(2) const %r: f32[5, 5] = seeded(3) ",
                  StepsText("%p@ = matmul(X, %k) {transpose_b = true} "
                            "%q@ = matmul(H, %r) {transpose_b = true} %z@ = add(%p@, %q@) "
                            "%h@ = relu(%z@)"),
                  kLast}),
            "rnn", "{activations = [\"relu\"], alpha = [0.0], beta = [0.0]}", 6},
           {"a product of two steps of features",
            Text({"in %x: f32[4, 2, 3] in %v: f32[2, 4, 6] const %w: f32[6, 5] = seeded(8) "
                  "%u0, %u1, %u2, %u3 = split(%x) {axis = 0} "
                  "%x0 = squeeze(%u0) {axes = [0]} %x1 = squeeze(%u1) {axes = [0]} "
                  "%x2 = squeeze(%u2) {axes = [0]} %x3 = squeeze(%u3) {axes = [0]} "
                  "const %n0: i32[] = [0] const %n1: i32[] = [1] const %n2: i32[] = [2] "
                  "const %n3: i32[] = [3] ",
                  kStates, weights,
                  StepsText("%p@ = matmul(X, %k) %v@ = gather(%v, %n@) {axis = 1} "
                            "%m@ = matmul(%v@, %w) %q@ = matmul(H, %r) %s@ = add(%p@, %m@) "
                            "%z@ = sub(%s@, %q@) %h@ = tanh(%z@)"),
                  kLast}),
            "rnn", "", 6},
       })
    CheckSpelled(row);
}

}  // namespace
}  // namespace nn::test::idiom_recurrent_test
