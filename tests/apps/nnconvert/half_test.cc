// Weights of 16 bits in Core ML files.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"

namespace nn::test::nnconvert_half_test {
namespace {

// Writes a product with more weights than a lookup table has, which are halves, and the bias
// `bias`.
void WriteProduct(const std::string& path, const std::vector<double>& bias) {
  const auto floats = [](const auto& values) {
    std::string text;
    for (const double v : values) text += fmt::format(" float_data: {}", v);
    return text;
  };
  std::vector<double> weights;
  for (int i = 0; i < 40 * 8; ++i) weights.push_back(0.5 * (i * 37 % 1999));
  const auto port = [](std::string_view kind, std::string_view name, int size) {
    return fmt::format(
        "{} {{ name: \"{}\" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 2 }} "
        "dim "
        "{{ dim_value: {} }} }} }} }} }} ",
        kind, name, size);
  };
  WriteText(path, fmt::format(R"(ir_version: 8 opset_import {{ version: 13 }} graph {{ name: "g"
                node {{ op_type: "Gemm" input: "x" input: "w" input: "b" output: "y" }}
                initializer {{ name: "w" data_type: 1 dims: 40 dims: 8 {} }}
                initializer {{ name: "b" data_type: 1 dims: 8 {} }} {} {} }})",
                              floats(weights), floats(bias), port("input", "x", 40),
                              port("output", "y", 8)));
}

// The types of the constant tensors.
std::vector<std::string> TypesOf(const std::string& path) {
  const ProgramResult r = RunProgram("nninspect --tensors --format json " + path);
  REQUIRE_MESSAGE(r.code == 0, r.err);
  std::vector<std::string> types;
  const Json report = Json::parse(r.out);
  REQUIRE(!report["tensors"].empty());
  for (const Json& t : report["tensors"]) types.push_back(t["type"].get<std::string>());
  return types;
}

const std::vector<double> kHalves = {1, 2, 3, 4, 5, 6, 7, 0.5};
const std::vector<double> kOneFloat = {1, 2, 3, 4, 5, 6, 7, 0.1};

TEST_CASE("Core ML: layers whose numbers are halves have 16-bit weights") {
  const TempDir dir;
  WriteProduct(dir / "a.textproto", kHalves);
  WriteProduct(dir / "b.textproto", kOneFloat);
  for (const char* name : {"a", "b"}) {
    const ProgramResult r =
        RunProgram(fmt::format("nnconvert {0}/{1}.textproto {0}/{1}.mlmodel", dir.path(), name));
    REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
    CHECK(Contains(r.out, "bit-identical"));
  }
  const std::vector<std::string> halves = TypesOf(dir / "a.mlmodel");
  CHECK(halves == std::vector<std::string>(halves.size(), "float16"));
  // A layer has one type.
  const std::vector<std::string> floats = TypesOf(dir / "b.mlmodel");
  CHECK(floats == std::vector<std::string>(floats.size(), "float32"));
}

TEST_CASE("Core ML: --fp16 --weights-only rounds all weights, --fp16 is refused") {
  const TempDir dir;
  WriteProduct(dir / "m.textproto", kOneFloat);
  const std::string convert =
      fmt::format("nnconvert {0}/m.textproto {0}/m.mlmodel --fp16", dir.path());
  const ProgramResult r = RunProgram(convert + " --weights-only");
  REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
  const std::vector<std::string> types = TypesOf(dir / "m.mlmodel");
  CHECK(types == std::vector<std::string>(types.size(), "float16"));
  CHECK(RunProgram("nnvalidate " + dir / "m.mlmodel").code == 0);
  const ProgramResult refused = RunProgram(convert);
  CHECK(refused.code == 3);
  CHECK(Contains(refused.err, "--fp16 --weights-only stores their weights in it"));
}

TEST_CASE("nnconvert: weights that the source widens stay in 16 bits") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph { in %x "x": f32[2, 32] const %w: f32[32, 64] = seeded(1)
    %m = matmul(%x, %w) %y = relu(%m) out "y" = %y })");
  const auto convert = [&](const std::string& arguments) {
    const ProgramResult r = RunProgram("nnconvert " + arguments);
    REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
    return r;
  };
  const auto has = [&](const std::string& name, const std::string& type) {
    return std::ranges::count(TypesOf(dir / name), type) != 0;
  };
  // Through formats, and options that write the model again.
  convert(dir / "m.onnx " + dir / "h.onnx --fp16 --weights-only");
  convert(dir / "h.onnx " + dir / "a.tflite");
  CHECK(has("a.tflite", "FLOAT16"));
  for (const std::string option : {"--rewrite", "--simplify --rewrite", "--set-batch 3"}) {
    CAPTURE(option);
    convert(dir / "a.tflite " + dir / "b.tflite " + option);
    CHECK(has("b.tflite", "FLOAT16"));
    CHECK(!has("b.tflite", "FLOAT32"));
    convert(dir / "a.tflite " + dir / "b.onnx " + option);
    CHECK(has("b.onnx", "FLOAT16"));
    CHECK(!has("b.onnx", "FLOAT"));
  }
  convert(dir / "m.onnx " + dir / "g.onnx --bf16 --weights-only");
  for (const std::string option : {"--rewrite", "--simplify --rewrite", "--set-batch 3"}) {
    CAPTURE(option);
    convert(dir / "g.onnx " + dir / "f.onnx " + option);
    CHECK(has("f.onnx", "BFLOAT16"));
    CHECK(!has("f.onnx", "FLOAT"));
  }
  // Options that change weights know them as float32.
  convert(dir / "a.tflite " + dir / "c.tflite --fp16 --weights-only");
  CHECK(has("c.tflite", "FLOAT16"));
  convert(dir / "a.tflite " + dir / "d.tflite --quantize weights-int8");
  CHECK(has("d.tflite", "INT8"));
  convert(dir / "a.tflite " + dir / "e.tflite --float32");
  CHECK(has("e.tflite", "FLOAT32"));
  CHECK(!has("e.tflite", "FLOAT16"));
}

// The models would run to see which numbers are in range: the arrays for it are not there.
TEST_CASE("nnconvert --bf16: an operator set without operators on it is refused before a run") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph { in %x "x": f32[2, 32] const %w: f32[32, 64] = seeded(1)
    %m = matmul(%x, %w) out "y" = %m })");
  const auto convert = [&](const std::string& opset) {
    return RunProgram("nnconvert --bf16 --opset " + opset + " --verify-inputs " + dir / "none.npz" +
                      " " + dir / "m.onnx " + dir / "b.onnx");
  };
  const ProgramResult refused = convert("12");
  CHECK(refused.code == 3);
  CHECK(Contains(refused.err, "ONNX models have no operators on bf16 in this operator set"));
  const ProgramResult runs = convert("17");
  CHECK(runs.code == 2);
  CHECK(Contains(runs.err, "none.npz"));
}

// TreeEnsembleRegressor has its weights as attributes, which cannot be of 16 bits.
TEST_CASE("nnconvert --weights-only: the weights of trees stay attributes or are refused") {
  const TempDir dir;
  std::string ids, leaves, zeros, modes, weights;
  for (int i = 0; i < 80; ++i) {
    ids += fmt::format(" ints: {}", i);
    zeros += " ints: 0";
    modes += " strings: \"LEAF\"";
    weights += fmt::format(" floats: {}", i);
    leaves += " floats: 0";
  }
  const auto list = [](std::string_view name, std::string_view type, const std::string& values) {
    return fmt::format("attribute {{ name: \"{}\" type: {} {} }} ", name, type, values);
  };
  std::string node;
  for (const char* name : {"nodes_treeids", "target_treeids"}) node += list(name, "INTS", ids);
  for (const char* name : {"nodes_nodeids", "nodes_featureids", "nodes_truenodeids",
                           "nodes_falsenodeids", "target_nodeids", "target_ids"})
    node += list(name, "INTS", zeros);
  node += list("nodes_values", "FLOATS", leaves) + list("target_weights", "FLOATS", weights) +
          list("nodes_modes", "STRINGS", modes) + list("n_targets", "INT", "i: 1");
  const auto port = [](std::string_view kind, std::string_view name) {
    return fmt::format(
        "{} {{ name: \"{}\" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ "
        "dim_value: 2 }} dim {{ dim_value: 1 }} }} }} }} }} ",
        kind, name);
  };
  WriteText(dir / "m.textproto",
            "ir_version: 8 opset_import { version: 17 } opset_import { domain: \"ai.onnx.ml\" "
            "version: 3 } graph { name: \"g\" node { op_type: \"TreeEnsembleRegressor\" domain: "
            "\"ai.onnx.ml\" input: \"x\" output: \"y\" " +
                node + "} " + port("input", "x") + port("output", "y") + "}");
  const ProgramResult r =
      RunProgram("nnconvert --bf16 --weights-only " + dir / "m.textproto " + dir / "out.onnx");
  CHECK_MESSAGE((r.code == 0 || r.code == 3), r.err);
}

TEST_CASE("nnconvert: options about operators that the model does not have") {
  const TempDir dir;
  WriteModel(dir / "m.onnx",
             "graph { in %x: f32[2, 64]  const %w: f32[64, 64] = seeded(1)  %h = matmul(%x, %w)"
             "  %y = relu(%h)  out \"y\" = %y }");
  for (const std::string options :
       {"--fp16 --keep-float32 Softmax", "--bf16 --weights-only --keep-float32 other",
        "--quantize weights-int8 --keep-float32 Softmax", "--unroll 3"}) {
    CAPTURE(options);
    const ProgramResult r =
        RunProgram("nnconvert " + options + " " + dir / "m.onnx " + dir / "o.onnx");
    CHECK(r.code == 2);
    CHECK(Contains(r.err, " has no effect: "));
    CHECK_FALSE(Exists(dir / "o.onnx"));
  }
  CHECK(
      RunProgram("nnconvert --fp16 --keep-float32 Relu " + dir / "m.onnx " + dir / "o.onnx").code ==
      0);
}

TEST_CASE("nnconvert: integer weights of an operator that becomes a float one stay in 8 bits") {
  const TempDir dir;
  std::string data;
  for (int i = 0; i < 8 * 4 * 9; ++i) data += fmt::format(" int32_data: {}", i * 37 % 256);
  WriteText(dir / "m.textproto", fmt::format(R"(ir_version: 8 opset_import {{ version: 13 }}
    graph {{ name: "g"
    node {{ op_type: "DynamicQuantizeLinear" input: "x" output: "q" output: "s" output: "z" }}
    node {{ op_type: "ConvInteger" input: "q" input: "w" input: "z" input: "wz" output: "i" }}
    node {{ op_type: "Cast" input: "i" output: "f" attribute {{ name: "to" i: 1 type: INT }} }}
    node {{ op_type: "Mul" input: "f" input: "s" output: "y" }}
    initializer {{ name: "w" data_type: 2 dims: 8 dims: 4 dims: 3 dims: 3 {} }}
    initializer {{ name: "wz" data_type: 2 int32_data: 128 }}
    input {{ name: "x" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 1 }}
      dim {{ dim_value: 4 }} dim {{ dim_value: 6 }} dim {{ dim_value: 6 }} }} }} }} }}
    output {{ name: "y" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 1 }}
      dim {{ dim_value: 8 }} dim {{ dim_value: 4 }} dim {{ dim_value: 4 }} }} }} }} }} }})",
                                             data));
  const ProgramResult r = RunProgram("nnconvert " + dir / "m.textproto " + dir / "o.tflite");
  REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
  CHECK(r.out.find("bit-identical") != std::string::npos);
  CHECK(std::ranges::count(TypesOf(dir / "o.tflite"), "INT8") == 1);
}

}  // namespace
}  // namespace nn::test::nnconvert_half_test
