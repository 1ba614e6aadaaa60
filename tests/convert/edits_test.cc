// Edits of a graph are compared with the model before them.
#include "convert/edits/edits.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "support/files.h"

namespace nn::test::edits_test {
namespace {

const char* const kFixed = R"(graph {
  in %x: f32[2, 3]
  const %c: f32[3] = [1, 2, 3]
  %y = add(%x, %c)
  out "y" = %y
})";

Conversion Edited(const std::string& input, const std::string& output,
                  std::function<Result<std::vector<GraphEdit>>(Graph&)> edit, bool verify = true) {
  ConvertJob o;
  o.input = input;
  o.output = output;
  o.hooks.edit = std::move(edit);
  o.verify = verify;
  auto done = ConvertFile(*FormatOfPath(output), o);
  REQUIRE_MESSAGE(done.has_value(), done.error().message());
  return *std::move(done);
}

Result<std::vector<GraphEdit>> OpenBatch(Graph& graph) {
  std::vector<GraphEdit> edits(1);
  NN_ASSIGN(edits[0], SetBatch(graph, Dim::Symbol("N")));
  return edits;
}

// An edit that changes more than it says.
Result<std::vector<GraphEdit>> Wrong(Graph& graph) {
  NN_ASSIGN(std::vector<GraphEdit> edits, OpenBatch(graph));
  Value* const y = graph.outputs()[0].value;
  Value* const small = graph.AddConstant(Tensor::Scalar<float>(1e-6F));
  NN_ASSIGN(const Node* const more, graph.Append("add", {y, small}));
  graph.set_output(0, more->output());
  return edits;
}

TEST_CASE("edits: the edited model is compared with the model of the file, in every format") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", kFixed);
  for (const char* const name : {"o.onnx", "o.tflite"}) {
    CAPTURE(name);
    const Conversion c = Edited(dir / "m.onnx", dir / name, OpenBatch);
    CHECK(c.written.has_value());
    REQUIRE(c.edit_verification.has_value());
    CHECK(c.edit_verification->passed);
    CHECK(c.edit_verification->outputs[0].worst.identical);
    // The batch of the file, and one of which the file runs parts.
    CHECK(c.edit_verification->symbols ==
          std::vector<std::pair<std::string, std::vector<int64_t>>>{{"N", {2, 5}}});
    CHECK(c.edits == std::vector<std::string>{"input \"x\": f32[2, 3] -> f32[N, 3]"});
    CHECK(c.source.inputs[0].type.ToString() == "f32[N, 3]");
    REQUIRE(c.verification.has_value());
    CHECK(c.verification->passed);
  }
}

TEST_CASE("edits: nothing is written if the edited model computes something else") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", kFixed);
  const Conversion c = Edited(dir / "m.onnx", dir / "o.onnx", Wrong);
  REQUIRE(c.edit_verification.has_value());
  CHECK(!c.edit_verification->passed);
  CHECK(!c.written.has_value());
  CHECK(!Exists(dir / "o.onnx"));
  const Conversion unchecked = Edited(dir / "m.onnx", dir / "o.onnx", Wrong, false);
  CHECK(!unchecked.edit_verification.has_value());
  CHECK(unchecked.written.has_value());
}

Conversion Shaped(const TempDir& dir, const char* graph,
                  const std::map<std::string, Dims>& shapes) {
  WriteModel(dir / "m.onnx", graph);
  return Edited(dir / "m.onnx", dir / "o.onnx", [&](Graph& g) -> Result<std::vector<GraphEdit>> {
    std::vector<GraphEdit> edits(1);
    NN_ASSIGN(edits[0], SetInputShapes(g, shapes));
    return edits;
  });
}

TEST_CASE("edits: a symbol that may be a batch is run as one") {
  const TempDir dir;
  using Symbols = std::vector<std::pair<std::string, std::vector<int64_t>>>;
  const Dim n = Dim::Symbol("N");
  const Conversion alone =
      Shaped(dir, "graph { in %x: f32[2, 4] %y = softmax(%x) {axis = 1} out \"y\" = %y }",
             {{"x", {n, Dim(4)}}});
  REQUIRE(alone.edit_verification.has_value());
  CHECK(alone.edit_verification->symbols == Symbols{{"N", {2, 5}}});
  // The elements of a sequence depend on each other.
  const Conversion joint =
      Shaped(dir, "graph { in %x: f32[2, 4] %y = softmax(%x) {axis = 0} out \"y\" = %y }",
             {{"x", {n, Dim(4)}}});
  REQUIRE(joint.edit_verification.has_value());
  CHECK(joint.edit_verification->passed);
  CHECK(joint.edit_verification->symbols == Symbols{{"N", {2}}});
}

TEST_CASE("edits: a batch whose samples affect each other is refused") {
  const TempDir dir;
  WriteModel(dir / "m.onnx",
             "graph { in %x: f32[1, 4] %y = softmax(%x) {axis = 0} out \"y\" = %y }");
  ConvertJob o;
  o.input = dir / "m.onnx";
  o.output = dir / "o.onnx";
  o.hooks.edit = OpenBatch;
  const auto done = ConvertFile(*FindFormat("onnx"), o);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code() == ErrorCode::kUnsupported);
  CHECK(done.error().message().find("output \"y\"") != std::string::npos);
  // Also where the new batch is a number, so that no run has the old one.
  o.hooks.edit = [](Graph& graph) -> Result<std::vector<GraphEdit>> {
    NN_ASSIGN(GraphEdit edit, SetBatch(graph, Dim(3)));
    return std::vector<GraphEdit>{std::move(edit)};
  };
  const auto fixed = ConvertFile(*FindFormat("onnx"), o);
  REQUIRE_FALSE(fixed.has_value());
  CHECK(fixed.error().code() == ErrorCode::kUnsupported);
  CHECK(fixed.error().message() == done.error().message());
}

}  // namespace
}  // namespace nn::test::edits_test
