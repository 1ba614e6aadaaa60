// Transposed convolutions of TensorFlow Lite whose output shape is not constant.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "ops/nn/conv_transpose.h"
#include "passes/core/passes.h"
#include "support/run_graph.h"
#include "validators/tflite/text.h"

namespace nn::test::tflite_transpose_conv_test {
namespace {

// The input [1, 2] and the filter [1, 10, 100], stride 2, with an output shape that is an input.
std::string OpenShape(std::string_view padding, std::string_view result,
                      std::string_view activation = "NONE") {
  return fmt::format(
      "TRANSPOSE_CONV/4 TransposeConvOptions {{\"padding\": \"{}\", \"stride_w\": 2, \"stride_h\": "
      "1, \"fused_activation_function\": \"{}\"}}\nshape i32[4]\nfilter f32[1,1,3,1] =1,10,100\n"
      "x f32[1,1,2,1]\n> y {}\n",
      padding, activation, result);
}

TEST_CASE("tflite transpose_conv: an output shape that a run decides has the declared sizes") {
  struct Row {
    std::string text;
    std::vector<double> shape, y;
  };
  for (const Row& r : {
           Row{OpenShape("VALID", "f32[1,1,5,1]"), {1, 1, 5, 1}, {1, 10, 102, 20, 200}},
           Row{OpenShape("VALID", "f32[1,1,6,1]"), {1, 1, 6, 1}, {1, 10, 102, 20, 200, 0}},
           Row{OpenShape("SAME", "f32[1,1,4,1]"), {1, 1, 4, 1}, {1, 10, 102, 20}},
           Row{OpenShape("SAME", "f32[1,1,3,1]"), {1, 1, 3, 1}, {10, 102, 20}},
           Row{OpenShape("SAME", "f32[1,1,3,1]", "RELU6"), {1, 1, 3, 1}, {6, 6, 6}},
           // Only the spatial sizes decide the pads.
           Row{OpenShape("SAME", "f32[1,1,3,1] {\"shape_signature\": [-1, 1, 3, -1]}"),
               {1, 1, 3, 1},
               {10, 102, 20}},
       })
    CHECK(OutputsOfTflite(r.text, {r.shape, {1, 2}}) == std::vector<std::vector<double>>{r.y});
  CHECK(OutputsOfTflite(
            "CONV_3D_TRANSPOSE Conv3DOptions {\"padding\": \"VALID\", \"stride_d\": 1, "
            "\"stride_w\": 1, \"stride_h\": 1}\nshape i32[5]\nfilter f32[2,1,1,2,1] =1,2,3,4\n"
            "x f32[1,1,1,1,1]\nbias f32[2] =10,20\n> y f32[1,2,1,1,2]\n",
            {{1, 2, 1, 1, 2}, {3}}) == std::vector<std::vector<double>>{{13, 26, 19, 32}});
}

TEST_CASE("tflite transpose_conv: a run that contradicts the declared sizes fails") {
  const auto imported = ImportTfliteText(OpenShape("SAME", "f32[1,1,4,1]"));
  REQUIRE(imported.has_value());
  REQUIRE(imported->unsupported.empty());
  for (const std::vector<double>& shape :
       {std::vector<double>{1, 1, 3, 1}, {1, 4, 1, 1}, {1, 2, 2, 1}, {4, 1, 1, 1}, {1, 1, 5, 1}})
    CheckSameError(imported->graph, InputsOf(imported->graph, {shape, {1, 2}}));
}

TEST_CASE("tflite transpose_conv: sizes that only a run knows") {
  CHECK(WhyNotImported(OpenShape("VALID", "f32[1,1,1,1] {\"shape_signature\": [1, 1, -1, 1]}")) ==
        "the output size is known only during a run, and the file declares none");
  CHECK(WhyNotImported(OpenShape("VALID", "f32[1,1,5]"))
            .find("the output size is known only during a run") != std::string::npos);
  std::string text = OpenShape("VALID", "f32[1,1,5,1]");
  text.replace(text.find("i32[4]"), 6, "i32[0]");
  const auto wrong = ImportTfliteText(text);
  REQUIRE(!wrong.has_value());
  CHECK(wrong.error().message().find("output_shape is i32[0]; expected 4 entries") !=
        std::string::npos);
}

// TRANSPOSE_CONV of x [batch, h, w, 1] with a filter [1, 3], stride 2 on w, to the shape
// SHAPE(x) * [1, 1, 2, 1] + [0, 0, more, 0].
std::string ComputedShape(std::string_view padding, int more) {
  constexpr std::string_view kUnknown = R"("shape": [1, 1, 1, 1], "shape_signature": )";
  return fmt::format(
      R"({{"version": 3, "operator_codes": [
{{"deprecated_builtin_code": 77, "builtin_code": "SHAPE"}},
{{"deprecated_builtin_code": 18, "builtin_code": "MUL"}},
{{"deprecated_builtin_code": 0, "builtin_code": "ADD"}},
{{"deprecated_builtin_code": 67, "builtin_code": "TRANSPOSE_CONV"}}],
"subgraphs": [{{"tensors": [
{{"name": "x", {1} [-1, -1, -1, 1]}},
{{"name": "shape", "shape": [4], "type": "INT32"}},
{{"name": "factors", "shape": [4], "type": "INT32", "buffer": 1}},
{{"name": "product", "shape": [4], "type": "INT32"}},
{{"name": "more", "shape": [4], "type": "INT32", "buffer": 2}},
{{"name": "sum", "shape": [4], "type": "INT32"}},
{{"name": "filter", "shape": [1, 1, 3, 1], "buffer": 3}},
{{"name": "y", {1} [-1, -1, -1, 1]}}],
"inputs": [0], "outputs": [7], "operators": [
{{"opcode_index": 0, "inputs": [0], "outputs": [1],
  "builtin_options_type": "ShapeOptions", "builtin_options": {{"out_type": "INT32"}}}},
{{"opcode_index": 1, "inputs": [1, 2], "outputs": [3],
  "builtin_options_type": "MulOptions", "builtin_options": {{}}}},
{{"opcode_index": 2, "inputs": [3, 4], "outputs": [5],
  "builtin_options_type": "AddOptions", "builtin_options": {{}}}},
{{"opcode_index": 3, "inputs": [5, 6, 0], "outputs": [7],
  "builtin_options_type": "TransposeConvOptions",
  "builtin_options": {{"padding": "{0}", "stride_w": 2, "stride_h": 1}}}}]}}],
"buffers": [{{}}, {{"data": [1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]}},
{{"data": [0, 0, 0, 0, 0, 0, 0, 0, {2}, {3}, {3}, {3}, 0, 0, 0, 0]}},
{{"data": [0, 0, 128, 63, 0, 0, 32, 65, 0, 0, 200, 66]}}]}})",
      padding, kUnknown, more & 0xFF, more < 0 ? 0xFF : 0);
}

TEST_CASE("tflite transpose_conv: an output shape that follows from the input") {
  struct Row {
    const char* padding;
    int more;
    bool natural;  // the size without output_shape
    std::vector<double> y;
  };
  for (const Row& r :
       {Row{"SAME", 0, true, {1, 10, 102, 20}}, Row{"SAME", -1, false, {10, 102, 20}},
        Row{"VALID", 1, true, {1, 10, 102, 20, 200}},
        Row{"VALID", 2, false, {1, 10, 102, 20, 200, 0}}}) {
    CAPTURE(r.padding);
    CAPTURE(r.more);
    const auto imported = ImportTfliteText(ComputedShape(r.padding, r.more));
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
    REQUIRE(imported->unsupported.empty());
    Graph graph = imported->graph.Clone();
    for (const Node& node : graph.nodes()) {
      CHECK(!node.Is("reshape"));
      if (node.Is("conv_transpose"))
        CHECK(node.attrs<ConvTransposeAttrs>().output_shape.empty() == r.natural);
    }
    REQUIRE(BindInputShapes(graph, {{"x", {1, 1, 2, 1}}}).has_value());
    const auto y = RunEverywhere(graph, InputsOf(graph, {{1, 2}}));
    REQUIRE(y.size() == 1);
    CHECK(y[0].ToDoubles() == r.y);
  }
}

}  // namespace
}  // namespace nn::test::tflite_transpose_conv_test
