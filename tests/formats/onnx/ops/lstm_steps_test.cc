// Quantized lstm layers step by step in ONNX, which keep every integer.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "formats/format.h"
#include "ops/recurrent/recurrent.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::onnx_lstm_steps_test {
namespace {

struct Layer {
  std::string lengths = "_";    // or %l
  std::string peepholes = "_";  // or %p
  std::string bias = "%b";      // or _
  std::string direction = "forward";
  std::string attributes = "";
  int64_t steps = 4;
};

Graph GraphOf(const Layer& a) {
  const bool both = a.direction == "bidirectional";
  const int d = both ? 2 : 1;
  const bool batch_first = a.attributes.find("batch_first") != std::string::npos;
  const std::string batches = "3", time = std::to_string(a.steps);
  const std::string state =
      batch_first ? fmt::format("{}, {}", batches, d) : fmt::format("{}, {}", d, batches);
  return Parse(fmt::format(
      R"(graph {{
        in %x: i8[{0}, {1}, 5]{{scale=0.02, zp=3}}
        const %w: i8[{2}, 8, 5]{{axis=1, scale=[0.01, 0.01, 0.02, 0.02, 0.03, 0.03, 0.01, 0.01]}} = seeded(1)
        const %r: i8[{2}, 8, 2]{{scale=0.01}} = seeded(2)
        const %b: i32[{2}, 16]{{scale=0.0002}} = seeded(7)
        const %p: i16[{2}, 6]{{scale=0.0001}} = seeded(3)
        const %l: i32[3] = [2, 4, 0]
        in %h: i8[{3}, 2]{{scale=0.0078125, zp=-1}}
        in %c: i16[{3}, 2]{{scale=0.00048828125}}
        %y, %yh, %yc = lstm(%x, %w, %r, {4}, {5}, %h, %c, {6}) {{direction = {7}{8}}} @tflite : i8[*]{{scale=0.0078125, zp=-1}}, i8[*]{{scale=0.0078125, zp=-1}}, i16[*]{{scale=0.00048828125}}
        out "y" = %y
        out "h" = %yh
        out "c" = %yc
      }})",
      batch_first ? batches : time, batch_first ? time : batches, d, state, a.bias, a.lengths,
      a.peepholes, a.direction, a.attributes));
}

Graph InOnnx(const Graph& graph) {
  Graph fitted = graph.Clone();
  const auto unsupported = Legalize(fitted, *FindFormat("onnx")->target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  CHECK(unsupported->empty());
  return fitted;
}

bool HasLayer(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.Is("lstm"); });
}

void CheckSteps(const Layer& layer) {
  const Graph graph = GraphOf(layer);
  const Graph fitted = InOnnx(graph);
  CHECK_FALSE(HasLayer(fitted));
  const auto inputs = InputsOf(graph, {});
  const auto expected = RunEverywhere(graph, inputs);
  const auto actual = RunEverywhere(fitted, inputs);
  REQUIRE(expected.size() == 3);
  for (size_t i = 0; i < expected.size(); ++i) CHECK(expected[i].Identical(actual[i]));
}

TEST_CASE("onnx lstm steps: every integer is kept") {
  for (const Layer& layer : {
           Layer{},
           Layer{.direction = "reverse"},
           Layer{.bias = "_", .direction = "bidirectional"},
           Layer{.lengths = "%l", .direction = "reverse"},
           Layer{.lengths = "%l", .peepholes = "%p", .direction = "bidirectional"},
           Layer{.peepholes = "%p", .attributes = ", cell_clip = 0.25"},
           Layer{.lengths = "%l", .attributes = ", batch_first = true"},
           Layer{.direction = "bidirectional", .attributes = ", batch_first = true"},
       })
    CheckSteps(layer);
}

TEST_CASE("onnx lstm steps: more than 64 stay a layer") {
  CHECK_FALSE(HasLayer(InOnnx(GraphOf({.steps = 64}))));
  CHECK(HasLayer(InOnnx(GraphOf({.steps = 65}))));
  CHECK(HasLayer(InOnnx(GraphOf({.direction = "bidirectional", .steps = 33}))));
}

}  // namespace
}  // namespace nn::test::onnx_lstm_steps_test
