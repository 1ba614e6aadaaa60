#include <nnsuite/convert.h>
#include <nnsuite/graph.h>
#include <nnsuite/model.h>
#include <nnsuite/program.h>

#include "support.h"

namespace nnsuite::test::graph_test {
namespace {

constexpr const char* kText = R"(graph "g" {
  in %x "x": f32[batch, 3]
  const %w: f32[3, 2] = [1, 2, 3, 4, 5, 6]
  %y = matmul(%x, %w)
  %z = relu(%y)
  out "z" = %z
})";

}  // namespace

TEST_CASE("api: a graph is read through handles") {
  const Graph graph = Take(Graph::Parse(kText));
  CHECK(graph.name() == "g");
  REQUIRE(graph.inputs().size() == 1);
  CHECK(graph.inputs()[0].name == "x");
  CHECK(graph.inputs()[0].value.is_input());
  CHECK(graph.inputs()[0].value.type().ToString() == "f32[batch, 3]");
  CHECK_FALSE(graph.inputs()[0].value.type().KnownShape().has_value());
  const std::vector<Node> nodes = graph.nodes();
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].op() == "matmul");
  CHECK(nodes[0].outputs()[0].users() == std::vector<Node>{nodes[1]});
  CHECK(nodes[1].inputs()[0]->producer() == nodes[0]);
  CHECK_FALSE(graph.inputs()[0].value.producer().has_value());
  const Value w = *nodes[0].inputs()[1];
  REQUIRE(w.is_constant());
  CHECK(Take(Take(w.constant()).As<float>())[5] == 6);
  CHECK(graph.inputs()[0].value.constant().error().code() == ErrorCode::kUsage);
  CHECK(graph.outputs()[0].value == nodes[1].outputs()[0]);
  CHECK(Take(Graph::Parse(graph.ToText(std::nullopt))).ToText() == graph.ToText());
}

TEST_CASE("api: handles stay valid when the graph is moved") {
  Graph graph = Take(Graph::Parse(kText));
  const Value x = graph.inputs()[0].value;
  const Node relu = graph.nodes()[1];
  const Graph moved = std::move(graph);
  CHECK(x == moved.inputs()[0].value);
  CHECK(relu == moved.nodes()[1]);
  CHECK(x.type().ToString() == "f32[batch, 3]");
  const Graph copy = moved.Clone();
  CHECK_FALSE(copy.inputs()[0].value == x);
}

TEST_CASE("api: a graph is built, run and written") {
  Graph graph;
  const Value x = Take(graph.AddInput("x", Take(ValueType::Parse("f32[1, 4, 4, 1]"))));
  const Value filter =
      Take(graph.AddConstant(Take(Tensor::Of<float>({1, 1, 2, 2}, {1, 2, 3, 4})), "filter"));
  const Node conv = Take(graph.Append("conv", {x, filter}, "{strides = [2, 2], layout = nxc}"));
  graph.AddOutput("y", conv.outputs()[0]);
  REQUIRE(graph.Verify().has_value());
  CHECK(conv.outputs()[0].type().ToString() == "f32[1, 2, 2, 1]");

  const Program program = Take(Program::Compile(graph));
  const std::vector<float> values(16, 1.0f);
  const std::vector<Tensor> inputs = {Take(Tensor::Of<float>({1, 4, 4, 1}, values))};
  const std::vector<Tensor> outputs = Take(program.Run(inputs));
  CHECK(outputs[0].Identical(Take(Tensor::Of<float>({1, 2, 2, 1}, {10, 10, 10, 10}))));

  const TestFolder folder;
  const Conversion done = Take(ConvertGraph(graph, folder / "m.tflite"));
  REQUIRE(done.written.has_value());
  CHECK(done.verification->passed);
  CHECK(Take(Model::Read(folder / "m.tflite")).format() == "tflite");
  CHECK(graph.nodes().size() == 1);  // unchanged
}

TEST_CASE("api: changes of a graph") {
  Graph graph = Take(Graph::Parse(kText));
  const Node matmul = graph.nodes()[0];
  const Node relu = graph.nodes()[1];
  const Status used = graph.Erase(matmul);
  REQUIRE_FALSE(used.has_value());
  CHECK(used.error().code() == ErrorCode::kUsage);
  graph.ReplaceUses(relu.outputs()[0], matmul.outputs()[0]);
  REQUIRE(graph.Erase(relu).has_value());
  CHECK(graph.outputs()[0].value == matmul.outputs()[0]);
  CHECK(graph.nodes() == std::vector<Node>{matmul});

  CHECK(graph.SetInputShapes({{"nothing", {1}}}).error().code() == ErrorCode::kUsage);
  CHECK(graph.SetInputShapes({{"x", {2, 7}}}).error().code() == ErrorCode::kUsage);
  REQUIRE(graph.SetBatch(5).has_value());
  CHECK(matmul.outputs()[0].type().KnownShape() == std::vector<int64_t>{5, 2});
  CHECK(graph.SetBatch(5).error().code() == ErrorCode::kUsage);  // none is open
  REQUIRE(graph.Simplify().has_value());
  CHECK(graph.nodes().size() == 1);
}

TEST_CASE("api: a node that cannot be added leaves the graph unchanged") {
  Graph graph = Take(Graph::Parse(kText));
  const std::string before = graph.ToText();
  const Value x = graph.inputs()[0].value;
  const auto unknown = graph.Append("nothing", {x});
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().code() == ErrorCode::kUsage);
  CHECK(graph.Append("relu", {x}, "{no = 1}").error().code() == ErrorCode::kParse);
  CHECK(graph.Append("relu", {x}, "{").error().code() == ErrorCode::kParse);
  const Value w = *graph.nodes()[0].inputs()[1];
  CHECK(graph.Append("matmul", {w, w}).error().code() == ErrorCode::kModel);
  CHECK(graph.Append("relu", {}).error().code() == ErrorCode::kModel);
  CHECK(graph.ToText() == before);
  ValueType type;
  type.dtype = DType::kI8;
  type.shape = {{{-1, "1 +"}}};
  CHECK_FALSE(graph.AddInput("bad", type).has_value());
  type.shape = {{{3, ""}}};
  type.quantization = Quantization{{0.5f, 0.25f}, {}, 0};
  CHECK(graph.AddInput("bad", type).error().code() == ErrorCode::kModel);
  CHECK(graph.inputs().size() == 1);
}

}  // namespace nnsuite::test::graph_test
