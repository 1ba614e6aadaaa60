// Unrolled recurrent layers (passes/idiom_recurrent.h).
#include "passes/idiom_recurrent.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "ir/text.h"
#include "ops/recurrent/unroll.h"
#include "passes/idioms.h"
#include "passes/passes.h"
#include "support/run_graph.h"

namespace nn::test::idiom_recurrent_test {
namespace {

using Counts = std::map<std::string_view, uint64_t>;

Counts Fused(Graph& graph) {
  REQUIRE(FoldConstants(graph).has_value());
  const auto counts = FuseIdioms(graph, {});
  REQUIRE_MESSAGE(counts.has_value(), counts.error().message());
  return *counts;
}

std::vector<const Node*> Layers(const Graph& graph) {
  std::vector<const Node*> out;
  for (const Node& node : graph.nodes())
    if (node.op().category == Category::kRecurrent) out.push_back(&node);
  return out;
}

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
           {"lstm", "activations = [\"sigmoid\", \"softsign\", \"relu\"], alpha = [0, 0, 0], "
                    "beta = [0, 0, 0]"},
           {"lstm", "activations = [\"hard_sigmoid\", \"tanh\", \"tanh\"], alpha = [0.25, 0, 0], "
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
    CHECK(LargestDifference(graph, original) <= 1e-6);
  }
}

}  // namespace
}  // namespace nn::test::idiom_recurrent_test
