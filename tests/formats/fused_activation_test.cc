// Activations that exports fuse into the operator before them.
#include "formats/common/fused_activation.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "support/run_graph.h"

namespace nn::test::fused_activation_test {
namespace {

// A graph of %c = conv and %r, the activation, with the given result of the model.
Graph ConvAnd(const std::string& activation, const std::string& result) {
  return Parse(
      "graph { in %x: f32[1, 4, 4, 2] const %w: f32[3, 1, 1, 2] = seeded(1) "
      "%c = conv(%x, %w) {layout = nxc, filter_layout = oxi} %r = " +
      activation + " out \"y\" = " + result + " }");
}

TEST_CASE("fused activations: clamps that options of operators name") {
  struct Row {
    const char* activation;
    std::optional<ClampOption> clamp;
  };
  for (const Row& row :
       {Row{"relu(%c)", ClampOption::kRelu},
        Row{"clip(%c) {min = 0, max = 6}", ClampOption::kRelu6},
        Row{"clip(%c) {min = -1, max = 1}", ClampOption::kRelu1},
        Row{"clip(%c) {min = 0, max = 1}", std::nullopt}, Row{"tanh(%c)", std::nullopt}}) {
    CAPTURE(row.activation);
    const Graph graph = ConvAnd(row.activation, "%r");
    const Node &conv = graph.nodes().front(), &next = graph.nodes().back();
    CHECK(ClampOptionOf(next) == row.clamp);
    FusedActivations fused;
    fused.Add(graph, conv);
    CHECK(fused.Of(conv) == (row.clamp ? &next : nullptr));
    CHECK(fused.Has(next) == row.clamp.has_value());
    CHECK(fused.ResultOf(conv) == (row.clamp ? next : conv).output());
  }
}

TEST_CASE("fused activations: a result that is needed without its activation stays") {
  for (const char* result : {"%c", "%r out \"z\" = %c"}) {
    CAPTURE(result);
    const Graph graph = ConvAnd("relu(%c)", result);
    FusedActivations fused;
    fused.Add(graph, graph.nodes().front());
    CHECK(fused.Of(graph.nodes().front()) == nullptr);
  }
  const Graph two = ConvAnd("relu(%c) %s = tanh(%c)", "%r out \"z\" = %s");
  FusedActivations fused;
  fused.Add(two, two.nodes().front());
  CHECK(fused.Of(two.nodes().front()) == nullptr);
}

TEST_CASE("fused activations: one that converts integers stays") {
  for (const char* scale : {"0.5", "0.25"}) {
    CAPTURE(scale);
    const Graph graph = Parse(
        std::string("graph { in %x: i8[2]{scale=0.5} %s = add(%x, %x) @tflite : i8[2]{scale=0.5} "
                    "%r = relu(%s) @tflite : i8[2]{scale=") +
        scale + "} out \"y\" = %r }");
    FusedActivations fused;
    fused.Add(graph, graph.nodes().front());
    CHECK(fused.Has(graph.nodes().back()) == (std::string(scale) == "0.5"));
  }
}

}  // namespace
}  // namespace nn::test::fused_activation_test
