#include <nnsuite/graph.h>
#include <nnsuite/inputs.h>
#include <nnsuite/model.h>
#include <nnsuite/program.h>

#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support.h"
#include "support/parts_model.h"

namespace nnsuite::test::inputs_test {
namespace {

// The product of two inputs, of which the second has an open size.
constexpr std::string_view kScaled = R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Mul" input: "x" input: "k" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 3 } dim { dim_param: "w" } } } } }
  input { name: "k" type { tensor_type { elem_type: 1 shape { dim { dim_param: "w" } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 3 } dim { dim_param: "w" } } } } }
})";

// An input that a run may decide about a shape with.
constexpr std::string_view kReshaped = R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Reshape" input: "x" input: "shape" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 6 } } } } }
  input { name: "shape" type { tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
})";

// Compiles the graph and runs it on the inputs; its only output.
Tensor RunOn(ModelInputs given, uint64_t seed = 0) {
  const Program program = Take(Program::Compile(std::move(given.graph)));
  const std::vector<Tensor> inputs = Take(CompleteInputs(program, given.arrays, seed));
  std::vector<Tensor> outputs = Take(program.Run(inputs));
  REQUIRE(outputs.size() == 1);
  return outputs[0];
}

std::vector<float> ValuesOf(const Tensor& tensor) {
  const auto values = Take(tensor.As<float>());
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("api: inputs are read from files and literals, and set the shapes") {
  const TestFolder folder;
  const Model model = ModelOf(kScaled);
  const std::vector<NamedTensor> arrays = {
      {"x", Take(Tensor::Of<float>({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}))},
      {"in_1", Take(Tensor::Of<float>({2}, std::vector<float>{1, 10}))}};
  REQUIRE(WriteTensors(folder / "all.npz", arrays).has_value());
  ModelInputs from_file = Take(ReadInputs(model, {.inputs_file = folder / "all.npz"}));
  CHECK(from_file.constants.empty());
  REQUIRE(from_file.arrays.size() == 2);
  CHECK(from_file.graph.inputs()[1].value.type().KnownShape() == std::vector<int64_t>{2});
  CHECK(ValuesOf(RunOn(std::move(from_file))) == std::vector<float>{1, 20, 3, 40, 5, 60});

  // What is not given is seeded, with the same numbers as of a program.
  ModelInputs part = Take(ReadInputs(model, {.inputs = {"k=[1, 0, 0, 2]"}}));
  CHECK(part.arrays[1].has_value());
  CHECK_FALSE(part.arrays[0].has_value());
  const Program program = Take(Program::Compile(part.graph));
  const std::vector<Tensor> all = Take(CompleteInputs(program, part.arrays, 7));
  CHECK(all[0].Identical(Take(program.SeededInputs(7))[0]));
  CHECK(all[1].Identical(*part.arrays[1]));
  CHECK(CompleteInputs(program, std::span(part.arrays).first(1)).error().code() ==
        ErrorCode::kUsage);

  const Tensor by_shape = RunOn(Take(ReadInputs(model, {}, {.shapes = {{"x", {3, 4}}}})));
  CHECK(by_shape.shape() == std::vector<int64_t>{3, 4});
}

TEST_CASE("api: arrays of other types and shapes fit if the options say so") {
  const Model model = ModelOf(kScaled);
  const Model integers = ModelOf(kReshaped);
  CHECK(ReadInputs(integers, {.inputs = {"x=1", "shape=[2.5, 3]"}}).error().code() ==
        ErrorCode::kUsage);
  const Tensor cast = RunOn(
      Take(ReadInputs(integers, {.inputs = {"x=1", "shape=[2.5, 3]"}, .arrays = {.cast = true}})));
  CHECK(cast.shape() == std::vector<int64_t>{2, 3});
  const InputOptions column = {.inputs = {"k=[[1, 2]]"}};
  CHECK(ReadInputs(model, column).error().code() == ErrorCode::kUsage);
  InputOptions reshaped = column;
  reshaped.arrays.reshape = true;
  CHECK(RunOn(Take(ReadInputs(model, reshaped))).shape() == std::vector<int64_t>{3, 2});
}

TEST_CASE("api: small integers that decide about shapes become constants") {
  const Model model = ModelOf(nn::test::kPartsModel);
  CHECK(ReadInputs(model, {}).error().code() == ErrorCode::kUnsupported);
  ModelInputs given = Take(ReadInputs(model, {.inputs = {"n=3", "i=0", "x=[6, 5, 4, 3, 2, 1]"}}));
  CHECK(given.constants == std::vector<std::string>{"n", "i"});
  REQUIRE(given.arrays.size() == 1);
  CHECK(given.graph.inputs()[0].name == "x");
  CHECK(ValuesOf(RunOn(std::move(given))) == std::vector<float>{6, 5, 4});
}

TEST_CASE("api: an image becomes an input") {
  const TestFolder folder;
  std::ofstream(folder / "red.ppm", std::ios::binary) << "P6 1 1 255\n"
                                                      << "\xff" << std::string(2, '\0');
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  InputOptions options = {.inputs = {"image=" + (folder / "red.ppm")}};
  const ModelInputs plain = Take(ReadInputs(model, options));
  REQUIRE(plain.arrays[0].has_value());
  CHECK(plain.arrays[0]->shape() == std::vector<int64_t>{1, 3, 32, 32});
  CHECK(ValuesOf(*plain.arrays[0])[0] == 1);
  CHECK(ValuesOf(*plain.arrays[0])[2 * 32 * 32] == 0);
  options.images = {.color = ImageColor::kBgr, .scale = 1, .mean = {5}, .std = {1, 1, 2}};
  const ModelInputs changed = Take(ReadInputs(model, options));
  CHECK(ValuesOf(*changed.arrays[0])[0] == -5);
  CHECK(ValuesOf(*changed.arrays[0])[2 * 32 * 32] == 125);
  options.images.mean = {1, 2};
  CHECK(ReadInputs(model, options).error().code() == ErrorCode::kUsage);
  options.images.mean = {std::numeric_limits<double>::infinity()};
  CHECK(ReadInputs(model, options).error().message() ==
        "the option \"mean\" must be a finite number; it is inf");
}

TEST_CASE("api: errors of inputs have a table of what is given") {
  const auto wrong = ReadInputs(ModelOf(kScaled), {.inputs = {"z=1"}});
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().code() == ErrorCode::kUsage);
  CHECK(wrong.error().message().find("not given") != std::string::npos);
  CHECK(ReadInputs(ModelOf(kScaled), {.inputs_file = "missing.npz"}).error().code() ==
        ErrorCode::kIo);
}

}  // namespace nnsuite::test::inputs_test
