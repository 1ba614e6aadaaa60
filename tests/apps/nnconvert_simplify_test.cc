// nnconvert --simplify (passes/simplify.h).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/json.h"
#include "support/files.h"

namespace nn::test::nnconvert_simplify_test {
namespace {

// Reads a symbolic batch, adds 0 as an integer, and normalizes twice.
constexpr std::string_view kModel = R"(
  ir_version: 6 producer_name: "maker" producer_version: "7" domain: "org.example" model_version: 3
  doc_string: "the model" opset_import { domain: "" version: 11 }
  metadata_props { key: "author" value: "me" }
  graph {
    name: "g" doc_string: "the graph"
    node { op_type: "Identity" name: "copy" input: "x" output: "x1" }
    node { op_type: "Shape" input: "x1" output: "s" }
    node { op_type: "Constant" output: "zero" attribute { name: "value" type: TENSOR
             t { data_type: 7 int64_data: 0 } } }
    node { op_type: "Gather" input: "s" input: "zero" output: "n" }
    node { op_type: "Constant" output: "axes" attribute { name: "value" type: TENSOR
             t { data_type: 7 dims: 1 int64_data: 6 } } }
    node { op_type: "Unsqueeze" input: "n" output: "n1" attribute { name: "axes" type: INTS ints: 0 } }
    node { op_type: "Concat" input: "n1" input: "axes" output: "shape"
           attribute { name: "axis" type: INT i: 0 } }
    node { op_type: "Reshape" name: "flat" input: "x1" input: "shape" output: "f" }
    node { op_type: "MatMul" name: "product" input: "f" input: "w" output: "p" }
    node { op_type: "Add" name: "sum" input: "p" input: "b" output: "q" }
    node { op_type: "Relu" input: "q" output: "r1" }
    node { op_type: "Relu" input: "q" output: "r2" }
    node { op_type: "Add" input: "r1" input: "r2" output: "y" }
    initializer { name: "w" data_type: 1 dims: 6 dims: 2
                  float_data: [1, -2, 3, -4, 5, -6, 7, -8, 9, 1, 2, 3] }
    initializer { name: "b" data_type: 1 dims: 2 float_data: [1, 2] }
    input { name: "x" doc_string: "an image" type { tensor_type { elem_type: 1 shape {
            dim { dim_param: "batch" denotation: "DATA_BATCH" } dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    output { name: "y" type { tensor_type { elem_type: 1 shape {
             dim { dim_param: "batch" } dim { dim_value: 2 } } } } }
  })";

std::vector<std::string> Operators(const std::string& path) {
  std::vector<std::string> out;
  const Json model = Inspect("--nodes " + path);
  for (const Json& node : model["nodes"]) out.push_back(node["operator"]);
  return out;
}

ProgramResult Convert(const std::string& arguments) {
  return RunProgram("nnconvert " + arguments);
}

TEST_CASE("nnconvert --simplify: fewer operators, and everything else as it was") {
  const TempDir dir;
  WriteText(dir / "m.textproto", kModel);
  const ProgramResult r = Convert("--simplify --report " + dir / "r.json " + dir / "m.textproto " +
                                  dir / "s.textproto");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "simplified from 13 to 4 operators"));
  CHECK(Contains(r.out, "bit-identical"));
  CHECK(Operators(dir / "s.textproto") ==
        std::vector<std::string>{"Reshape", "Gemm", "Relu", "Add"});
  const std::string text = ReadText(dir / "s.textproto");
  for (const std::string_view kept :
       {"ir_version: 6", "\"maker\"", "\"7\"", "\"org.example\"", "model_version: 3",
        "\"the model\"", "version: 11", "\"author\"", "\"the graph\"", "\"an image\"",
        "dim_param: \"batch\"", "\"DATA_BATCH\"", "name: \"flat\""}) {
    CAPTURE(kept);
    CHECK(Contains(text, kept));
  }
  const Json report = Json::parse(ReadText(dir / "r.json"));
  CHECK(report["operators"] == Json{{"before", 13}, {"after", 4}});
  CHECK(Contains(report["rewritings"].dump(), "duplicate"));
  // A fixed batch changes the interface, and a new operator set the version.
  REQUIRE(Convert("--simplify --batch 2 --opset 13 " + dir / "m.textproto " + dir / "t.textproto")
              .code == 0);
  const std::string fixed = ReadText(dir / "t.textproto");
  CHECK(!Contains(fixed, "\"batch\""));
  CHECK(Contains(fixed, "version: 13"));
  CHECK(Contains(fixed, "\"an image\""));
}

TEST_CASE("nnconvert --simplify: what rounds differently needs --allow-rounding") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", NormModel());
  ProgramResult r = Convert("--simplify " + dir / "m.onnx " + dir / "s.onnx");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Operators(dir / "s.onnx") == std::vector<std::string>{"Conv", "BatchNormalization"});
  r = Convert("--simplify --allow-rounding " + dir / "m.onnx " + dir / "s.onnx");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Operators(dir / "s.onnx") == std::vector<std::string>{"Conv"});
  CHECK(Convert("--allow-rounding " + dir / "m.onnx " + dir / "s.onnx").code == 2);
}

TEST_CASE("nnconvert --simplify: a model that is simple already is copied") {
  const TempDir dir;
  WriteModel(dir / "m.textproto", ConvModel());
  const ProgramResult r = Convert("--simplify " + dir / "m.textproto " + dir / "s.textproto");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "copied unchanged: no form with fewer than 2 operators was found"));
  CHECK(Operators(dir / "s.textproto") == Operators(dir / "m.textproto"));
}

TEST_CASE("nnconvert --simplify: the other formats") {
  const TempDir dir;
  WriteModel(dir / "m.tflite", R"(graph { in %x: f32[1, 4, 4, 3] %a = relu(%x) %b = relu(%x)
    %c = add(%a, %b) %d = reshape(%c) {dims = [1, 48]} %e = reshape(%d) {dims = [3, 16]}
    out "y" = %e })");
  for (const std::string file : {"s.tflite", "s.mlmodel", "s.nnapi"}) {
    CAPTURE(file);
    const ProgramResult r = Convert("--simplify " + dir / "m.tflite " + dir / file);
    REQUIRE_MESSAGE(r.code == 0, r.err);
    CHECK(Contains(r.out, "to 3 operators"));
    CHECK(Contains(r.out, "bit-identical"));
  }
}

}  // namespace
}  // namespace nn::test::nnconvert_simplify_test
