// Operators of ONNX on the results of QuantizeLinear, which are plain integers to them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "exec/program.h"
#include "formats/format.h"
#include "formats/onnx/text.h"
#include "ir/text/text.h"
#include "support/files.h"

namespace nn::test::onnx_stored_integers_test {
namespace {

using namespace onnx_text;

// The numbers of x are quantized to q = 2 x + 3, and to p = x + 3; y is what r represents as q.
struct Case {
  std::string nodes;  // from q and p to r
  std::vector<double> y;
  std::string initializers = {};
};

std::string Model(const Case& c) {
  constexpr int kI8 = 3;
  return Input("x", TypeOf(kF32, {"1", "1", "2", "4"})) + Outputs({"y"}) + Float("s", 0.5f) +
         Float("one", 1.0f) +
         fmt::format("initializer {{ name: \"z\" data_type: {} int32_data: 3 }}\n", kI8) +
         Node("QuantizeLinear", {"x", "s", "z"}, {"q"}) +
         Node("QuantizeLinear", {"x", "one", "z"}, {"p"}) + c.nodes +
         Node("DequantizeLinear", {"r", "s", "z"}, {"y"}) + c.initializers;
}

std::string Byte(std::string_view name, int v, std::string_view dims = "") {
  return fmt::format("initializer {{ name: \"{}\" data_type: 3 {} int32_data: {} }}\n", name, dims,
                     v);
}
std::string List(std::string_view name, const std::vector<int64_t>& values,
                 std::string_view dims = "") {
  std::string text = fmt::format("initializer {{ name: \"{}\" data_type: 7 ", name);
  text += dims.empty() ? fmt::format("dims: {}", values.size()) : std::string(dims);
  for (const int64_t v : values) text += fmt::format(" int64_data: {}", v);
  return text + " }\n";
}

// q: -5 3 7 19, 5 1 9 4. p: -1 3 5 11, 4 2 6 3.
const std::vector<double> kX = {-4, 0, 2, 8, 1, -1, 3, 0.5};

std::vector<Case> Cases() {
  const std::string asymmetric =
      "attribute { name: \"coordinate_transformation_mode\" type: STRING s: \"asymmetric\" } ";
  const std::string linear = "attribute { name: \"mode\" type: STRING s: \"linear\" } ";
  const std::string scales =
      "initializer { name: \"k\" data_type: 1 dims: 4 float_data: 1 float_data: 1 float_data: 1 "
      "float_data: 2 }\n";
  return {
      // What moves or selects elements.
      {Node("MaxPool", {"q"}, {"r"}, Ints("kernel_shape", {2, 2}) + Ints("strides", {2, 2})),
       {1, 8}},
      {Node("ReduceMax", {"q"}, {"r"}, Ints("axes", {3})), {8, 3}},
      {Node("ReduceMin", {"q"}, {"r"}, Ints("axes", {2})), {-4, -1, 2, 0.5}},
      {Node("Transpose", {"q"}, {"r"}, Ints("perm", {0, 1, 3, 2})), {-4, 1, 0, -1, 2, 3, 8, 0.5}},
      {Node("Flatten", {"q"}, {"r"}), kX},
      {Node("Gather", {"q", "i"}, {"r"}, Int("axis", 3)), {8, -4, 0.5, 1}, List("i", {3, 0})},
      {Node("Concat", {"q", "q"}, {"r"}, Int("axis", 3)),
       {-4, 0, 2, 8, -4, 0, 2, 8, 1, -1, 3, 0.5, 1, -1, 3, 0.5}},
      {Node("ScatterND", {"q", "i", "u"}, {"r"}),
       {-4, 2, 2, 8, 1, -1, 3, 0.5},
       List("i", {0, 0, 0, 1}, "dims: 1 dims: 4") + Byte("u", 7, "dims: 1")},
      {Node("TopK", {"q", "k"}, {"r", "at"}), {8, 3}, List("k", {1})},
      {Node("Resize", {"q", "", "k"}, {"r"}, asymmetric),
       {-4, -4, 0, 0, 2, 2, 8, 8, 1, 1, -1, -1, 3, 3, 0.5, 0.5},
       scales},
      // The padding is the integer 0, not the zero point.
      {Node("Pad", {"q", "n"}, {"r"}),
       {-1.5, -4, 0, 2, 8, -1.5, 1, -1, 3, 0.5},
       List("n", {0, 0, 0, 1, 0, 0, 0, 0})},
      {Node("Pad", {"q", "n", "v"}, {"r"}),
       {3, -4, 0, 2, 8, 3, 1, -1, 3, 0.5},
       List("n", {0, 0, 0, 1, 0, 0, 0, 0}) + Byte("v", 9)},
      // Operands of different scales.
      {Node("Concat", {"q", "p"}, {"r"}, Int("axis", 2)),
       {-4, 0, 2, 8, 1, -1, 3, 0.5, -2, 0, 1, 4, 0.5, -0.5, 1.5, 0}},
      {Node("Max", {"q", "p"}, {"r"}), {-2, 0, 2, 8, 1, -0.5, 3, 0.5}},
      {Node("Equal", {"q", "p"}, {"e"}) + Node("Where", {"e", "q", "p"}, {"r"}),
       {-2, 0, 1, 4, 0.5, -0.5, 1.5, 0}},
      // What computes with the integers.
      {Node("Relu", {"q"}, {"r"}), {-1.5, 0, 2, 8, 1, -1, 3, 0.5}},
      {Node("Clip", {"q", "v", "w"}, {"r"}),
       {0.5, 0.5, 2, 3, 1, 0.5, 3, 0.5},
       Byte("v", 4) + Byte("w", 9)},
      {Node("Add", {"q", "q"}, {"r"}), {-6.5, 1.5, 5.5, 17.5, 3.5, -0.5, 7.5, 2.5}},
      {Node("Abs", {"q"}, {"r"}), {1, 0, 2, 8, 1, -1, 3, 0.5}},
      // 6.5 is rounded toward zero.
      {Node("Resize", {"q", "", "k"}, {"r"}, asymmetric + linear),
       {-4, -2, 0, 1, 2, 5, 8, 8, 1, 0, -1, 1, 3, 1.5, 0.5, 0.5},
       scales},
  };
}

TEST_CASE("onnx stored integers: an input that is dequantized and used as integers") {
  constexpr int kI8 = 3;
  const std::string graph =
      Input("x", TypeOf(kI8, {"2"})) + Outputs({"a", "y", "b"}) + Float("s", 0.5f) +
      fmt::format("initializer {{ name: \"z\" data_type: {} int32_data: 3 }}\n", kI8) +
      Node("Relu", {"x"}, {"a"}) + Node("DequantizeLinear", {"x", "s", "z"}, {"y"}) +
      Node("Relu", {"x"}, {"b"});
  Check(graph, {{-5, 7}}, {{0, 7}, {-4, 2}, {0, 7}});
  const std::string first = Input("x", TypeOf(kI8, {"2"})) + Outputs({"y", "a"}) +
                            Float("s", 0.5f) + Node("DequantizeLinear", {"x", "s"}, {"y"}) +
                            Node("Relu", {"x"}, {"a"});
  Check(first, {{-5, 7}}, {{-2.5, 3.5}, {0, 7}});
}

TEST_CASE("onnx stored integers: operators on quantized values") {
  for (const Case& c : Cases()) {
    const std::string model = Model(c);
    CAPTURE(model);
    Check(model, {kX}, {c.y});
    const TempDir dir;
    WriteModel(dir / "copy.onnx", PrintGraph(Import(model).graph));
    const ReadModel copy = ReadOrFail(dir / "copy.onnx");
    const auto imported = copy.format->importer.Import(*copy.model);
    REQUIRE(imported.has_value());
    const auto program = Program::Compile(imported->graph, {});
    REQUIRE(program.has_value());
    auto x = TensorBuilder::Create(DType::kF32, {1, 1, 2, 4});
    for (size_t i = 0; i < kX.size(); ++i) x->SetDouble(static_cast<int64_t>(i), kX[i]);
    const auto y = program->Run(std::vector<Tensor>{x->Finish()});
    REQUIRE(y.has_value());
    CHECK((*y)[0].ToDoubles() == c.y);
  }
}

}  // namespace
}  // namespace nn::test::onnx_stored_integers_test
