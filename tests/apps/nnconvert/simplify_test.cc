// nnconvert --simplify (passes/simplify/simplify.h).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/json/json.h"
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

TEST_CASE("nnconvert --simplify: a model that breaks a rule of its format is not copied") {
  const TempDir dir;
  WriteText(dir / "m.textproto", R"(ir_version: 8 opset_import { version: 17 } graph { name: "g"
    node { name: "n" op_type: "Exp" input: "a" output: "y" }
    node { name: "n" op_type: "Relu" input: "x" output: "a" }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } })");
  REQUIRE(RunProgram("nnvalidate " + dir / "m.textproto").code == 1);
  const ProgramResult r = Convert("--simplify " + dir / "m.textproto " + dir / "s.textproto");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(!Contains(r.out, "copied unchanged"));
  CHECK(Contains(r.out, "bit-identical"));
  CHECK(Operators(dir / "s.textproto") == std::vector<std::string>{"Relu", "Exp"});
  CHECK(RunProgram("nnvalidate " + dir / "s.textproto").code == 0);
}

TEST_CASE("nnconvert --simplify: a source whose nodes are not sorted is not copied") {
  const TempDir dir;
  WriteText(dir / "m.textproto", R"(ir_version: 8
    opset_import { version: 17 }
    graph { name: "g"
      node { op_type: "Relu" input: "a" output: "y" }
      node { op_type: "Neg" input: "x" output: "a" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 } } } })");
  const ProgramResult r =
      RunProgram("nnconvert --simplify " + dir / "m.textproto " + dir / "y.onnx");
  CHECK_MESSAGE(r.code == 0, (r.err + r.out));
  CHECK_MESSAGE(Contains(r.out,
                         "written again, not copied: the source violates rule "
                         "ONNX-GRAPH-010"),
                r.out);
  CHECK(Contains(r.out, "verified by 3 runs"));
  CHECK(RunProgram("nnvalidate " + dir / "y.onnx").code == 0);
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

// The types of the constants.
std::string TypesOf(const std::string& path) {
  std::string out;
  const Json model = Inspect("--tensors " + path);
  for (const Json& t : model["tensors"]) out += t["type"].get<std::string>() + " ";
  return out;
}

TEST_CASE("nnconvert --simplify: what else is asked for is done, too") {
  const TempDir dir;
  // There is nothing to simplify.
  WriteModel(dir / "m.onnx", R"(graph { in %x: f32[2, 16] const %w: f32[16, 16] = seeded(1)
    %y = matmul(%x, %w) out "y" = %y })");
  struct Row {
    std::string options, type;
  };
  for (const Row& row : {Row{"--fp16", "FLOAT16 "}, Row{"--fp16 --weights-only", "FLOAT16 "},
                         Row{"--bf16 --opset 22", "BFLOAT16 "}}) {
    CAPTURE(row.options);
    const ProgramResult r =
        Convert("--simplify " + row.options + " " + dir / "m.onnx " + dir / "o.onnx");
    REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
    CHECK(!Contains(r.out, "copied unchanged"));
    CHECK(TypesOf(dir / "o.onnx") == row.type);
  }
  for (const std::string form : {"weights-int8", "int8 --calibrate seeded:2"}) {
    CAPTURE(form);
    const ProgramResult r =
        Convert("--simplify --quantize " + form + " " + dir / "m.onnx " + dir / "o.onnx");
    REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
    CHECK(Contains(TypesOf(dir / "o.onnx"), "INT8"));
  }
  const ProgramResult again = Convert("--simplify --rewrite " + dir / "m.onnx " + dir / "o.onnx");
  REQUIRE_MESSAGE(again.code == 0, again.out, again.err);
  CHECK(!Contains(again.out, "copied unchanged"));
}

TEST_CASE("nnconvert: options without an effect on the model") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", "graph {\n in %x: f32[2]\n %y = relu(%x)\n out \"y\" = %y\n}");
  for (const auto& row : std::map<std::string, std::string>{
           {"--dequantize", "--dequantize has no effect: the model is not quantized"},
           {"--float32", "--float32 has no effect: the model has no numbers in float16"},
           {"--states", "--states has no effect: the model has no states"},
           {"--fold-batch-norm", "--fold-batch-norm has no effect: "},
           {"--fuse", "--fuse has no effect: "},
           {"--fp16 --weights-only", "the model has no float32 weights that could be f16"},
           {"--quantize weights-int8", "the model has no float32 weights of 256"}}) {
    const std::string& option = row.first;
    for (const std::string name : {"o.onnx", "o.tflite"}) {
      CAPTURE(option);
      CAPTURE(name);
      const ProgramResult r = Convert(option + " --simplify " + dir / "m.onnx " + dir / name);
      CHECK(r.code == 2);
      CHECK_MESSAGE(Contains(r.err, row.second), r.err);
      CHECK(!Exists(dir / name));
    }
  }
}

// A layer normalization as exporters decompose it.
constexpr std::string_view kDecomposed = R"(graph { in %x: f32[2, 8] const %two: f32[] = [2]
  const %eps: f32[] = [1e-5] const %g: f32[8] = seeded(1) const %b: f32[8] = seeded(2)
  %m = reduce_mean(%x) {axes = [-1]} %d = sub(%x, %m) %q = pow(%d, %two)
  %v = reduce_mean(%q) {axes = [-1]} %e = add(%v, %eps) %s = sqrt(%e) %n = div(%d, %s)
  %p = mul(%n, %g) %y = add(%p, %b) out "y" = %y })";

TEST_CASE("nnconvert --fuse, --fold-batch-norm: before numbers get fewer bits") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", kDecomposed);
  const auto has = [&](const std::string& options, const std::string& op) {
    const ProgramResult r = Convert(options + " " + dir / "m.onnx " + dir / "o.onnx");
    REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
    const std::vector<std::string> ops = Operators(dir / "o.onnx");
    return std::ranges::find(ops, op) != ops.end();
  };
  CHECK(has("--opset 17 --fuse --fp16", "LayerNormalization"));
  CHECK(has("--opset 17 --simplify --allow-rounding --fp16", "LayerNormalization"));
  CHECK_FALSE(has("--opset 17 --fp16", "LayerNormalization"));
  WriteModel(dir / "m.onnx", NormModel());
  CHECK_FALSE(has("--fold-batch-norm --fp16", "BatchNormalization"));
  CHECK(has("--fp16", "BatchNormalization"));
}

TEST_CASE("nnconvert --simplify: another format or version rounds within the tolerance") {
  const TempDir dir;
  // The functions of the formats are not those of the graph, bit by bit.
  WriteModel(dir / "m.onnx", R"(graph { in %x: f32[2, 8] %a = reshape(%x) {dims = [2, 8]}
    %e = layer_norm(%a) {axis = -1} %s = softmax(%e) %t = mish(%s) out "y" = %t })");
  for (const std::string file : {"o.tflite", "o.mlmodel", "o.nnapi"}) {
    CAPTURE(file);
    const ProgramResult r = Convert("--simplify " + dir / "m.onnx " + dir / file);
    CHECK_MESSAGE(r.code == 0, r.out, r.err);
  }
  const ProgramResult r = Convert("--simplify --opset 13 " + dir / "m.onnx " + dir / "o.onnx");
  CHECK_MESSAGE(r.code == 0, r.out, r.err);
}

// Paddle2ONNX and others write "?" or -1 for a size that they do not know.
TEST_CASE("nnconvert --simplify: unknown sizes that are written as \"?\" or -1") {
  const TempDir dir;
  constexpr std::string_view kShape =
      "type { tensor_type { elem_type: 1 shape { dim { dim_value: -1 } dim { dim_param: '?' } "
      "dim { dim_param: '?' } } } } }";
  WriteText(dir / "m.textproto",
            fmt::format("ir_version: 8 opset_import {{ version: 13 }} graph {{ name: 'g' "
                        "node {{ op_type: 'Relu' input: 'x' output: 'r' }} "
                        "node {{ op_type: 'Relu' input: 'r' output: 'y' }} "
                        "input {{ name: 'x' {0} output {{ name: 'y' {0} }}",
                        kShape));
  const ProgramResult r = Convert("--simplify " + dir / "m.textproto " + dir / "s.onnx");
  CHECK_MESSAGE(r.code == 0, r.out, r.err);
  for (const std::string file : {"m.textproto", "s.onnx"}) {
    const ProgramResult run =
        RunProgram("nnrun " + dir / file + " --seed 1 --input-shape x:1,2,3 --digest");
    CHECK_MESSAGE(run.code == 0, file, run.err);
  }
  CHECK(RunProgram("nnvalidate " + dir / "s.onnx").code == 0);
}

// Exporters declare the sizes of a sample; onnxmltools has labels of shape [1] for any batch.
TEST_CASE("nnconvert --simplify: a declared number for a size that follows from those of inputs") {
  const TempDir dir;
  const auto info = [](const std::string& name, const std::string& dims) {
    return fmt::format("{{ name: '{}' type {{ tensor_type {{ elem_type: 1 shape {{ {} }} }} }} }} ",
                       name, dims);
  };
  WriteText(dir / "m.textproto",
            "ir_version: 8 opset_import { version: 13 } graph { name: 'g' "
            "node { op_type: 'Relu' input: 'x' output: 'r' } "
            "node { op_type: 'Relu' input: 'r' output: 'y' } input " +
                info("x", "dim { dim_param: 'N' } dim { dim_value: 2 }") + "output " +
                info("y", "dim { dim_value: 1 } dim { dim_value: 2 }") + "}");
  for (const std::string file : {"s.onnx", "s.tflite"}) {
    const ProgramResult r = Convert("--simplify " + dir / "m.textproto " + dir / file);
    CHECK_MESSAGE(r.code == 0, r.out, r.err);
  }
  for (const std::string file : {"m.textproto", "s.onnx", "s.tflite"}) {
    const std::string model = dir / file;
    const ProgramResult run =
        RunProgram("nnrun " + model + " --seed 1 --input-shape x:9,2 --format json");
    REQUIRE_MESSAGE(run.code == 0, file, run.err);
    CHECK(Json::parse(run.out)["outputs"][0]["shape"] == Json::array({9, 2}));
  }
}

}  // namespace
}  // namespace nn::test::nnconvert_simplify_test
