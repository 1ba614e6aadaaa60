#include <doctest/doctest.h>

#include "apps/program.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"

namespace nn::test::nninspect_diff_test {
namespace {

constexpr std::string_view kBase = R"(graph "m" {
  in %x: f32[1, 3, 8, 8]
  const %w: f32[4, 3, 3, 3] = seeded(1, 0.3)
  const %v: f32[4, 4, 1, 1] = splat(0.5)
  %a = conv(%x, %w) {pads = [1, 1, 1, 1]} "first"
  %b = relu(%a) "act"
  %y = conv(%b, %v) "second"
  out "y" = %y
})";

std::string Edited(const std::string& from, const std::string& to) {
  std::string text(kBase);
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

// The difference as JSON, checked against its schema and the exit code.
Json Diff(const std::string& a, const std::string& b) {
  const ProgramResult r = RunProgram(fmt::format("nninspect --diff --format json {} {}", a, b));
  Json json = Json::parse(r.out);
  static const Json schema =
      Json::parse(ReadText(SourcePath("schemas/nninspect-diff.schema.json")));
  for (const std::string& error : SchemaErrors(schema, json)) FAIL_CHECK(error);
  CHECK(r.code == (json["equal"].get<bool>() ? 0 : 1));
  return json;
}

TEST_CASE("diff: equal operators, and renamed ones") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", kBase);
  WriteModel(dir / "b.onnx", Edited("\"first\"", "\"renamed\""));
  CHECK(Diff(dir / "a.onnx", dir / "a.onnx")["equal"] == true);
  const Json renamed = Diff(dir / "a.onnx", dir / "b.onnx");
  CHECK(renamed["equal"] == true);
  CHECK(renamed["operators"]["renamed"] == 1);
  CHECK(renamed["operators"]["matched"] == 3);
  CHECK(Contains(RunProgram("nninspect --diff " + dir / "a.onnx " + dir / "b.onnx").out,
                 "no differences: 3 operators, 1 renamed, 2 constants\n"));
}

TEST_CASE("diff: zero points of zero may be written or not") {
  const TempDir dir;
  const auto write = [&](const std::string& path, const std::string& point) {
    WriteText(path, R"(ir_version: 8 opset_import { version: 13 }
graph {
  name: "g"
  node { op_type: "QuantizeLinear" input: "x" input: "s" )" +
                        point + R"( output: "q" }
  node { op_type: "DequantizeLinear" input: "q" input: "s" )" +
                        point + R"( output: "d" }
  node { op_type: "DequantizeLinear" input: "w" input: "s" )" +
                        point + R"( output: "wd" }
  node { op_type: "Mul" input: "d" input: "wd" output: "y" }
  initializer { name: "w" data_type: 2 dims: 4 int32_data: [3, 4, 5, 0] }
  initializer { name: "s" data_type: 1 float_data: [0.5] }
  initializer { name: "z" data_type: 2 int32_data: [0] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
})");
  };
  write(dir / "a.txtpb", "input: \"z\"");
  write(dir / "b.txtpb", "");
  const Json diff = Diff(dir / "a.txtpb", dir / "b.txtpb");
  CHECK(diff["equal"] == true);
  CHECK(diff["operators"]["matched"] == 4);
}

TEST_CASE("diff: each kind of difference is reported, and nothing else") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", kBase);
  struct Row {
    std::string from;
    std::string to;
    std::string text;
  };
  for (const Row& r : {
           Row{"splat(0.5)", "splat(0.75)",
               "Weights changed: 1 of 2 compared (largest differences)\n"
               "  operator        input  name  type               differ  absolute  relative\n"
               "  #2 Conv second      1  v     f32[4, 4, 1, 1]  16 of 16      0.25       0.5\n"},
           Row{"{pads = [1, 1, 1, 1]} \"first\"",
               "{pads = [1, 1, 1, 1], strides = [2, 2]} \"first\"",
               "  #0 Conv first\n    attribute strides: [] -> [2, 2]\n"
               "    output 0: f32[1, 4, 8, 8] -> f32[1, 4, 4, 4]\n"},
           Row{"relu(%a) \"act\"", "sigmoid(%a) \"act\"",
               "Operators only in a: 1\n  #1 Relu act\n\n"
               "Operators only in b: 1\n  #1 Sigmoid act\n"},
           Row{"const %v: f32[4, 4, 1, 1] = splat(0.5)", "const %v: f32[5, 4, 1, 1] = splat(0.5)",
               "    input 1: constant f32[4, 4, 1, 1] -> constant f32[5, 4, 1, 1]\n"
               "    output 0: f32[1, 4, 8, 8] -> f32[1, 5, 8, 8]\n"},
           Row{"conv(%b, %v)", "conv(%a, %v)",
               "    input 0: output 0 of #1 Relu act -> output 0 of #0 Conv first\n"},
           Row{"out \"y\"", "out \"z\"",
               "Inputs and outputs\n  output 0: \"y\": FLOAT[1, 4, 8, 8] -> \"z\": FLOAT[1, 4, 8, "
               "8]\n"},
           Row{"graph \"m\"", "graph \"n\"", "Model\n  name: m -> n\n"},
       }) {
    CAPTURE(r.to);
    WriteModel(dir / "b.onnx", Edited(r.from, r.to));
    const ProgramResult result = RunProgram("nninspect --diff " + dir / "a.onnx " + dir / "b.onnx");
    CHECK_MESSAGE(Contains(result.out, r.text), result.out);
    CHECK(result.code == 1);
    Diff(dir / "a.onnx", dir / "b.onnx");
  }
}

TEST_CASE("diff: attributes of unsupported operators come from the files") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", kBase);
  Patch(dir / "a.onnx", "Conv", "Cnov");
  CHECK(Diff(dir / "a.onnx", dir / "a.onnx")["equal"] == true);
  WriteModel(dir / "b.onnx", Edited("{pads = [1, 1, 1, 1]}", "{pads = [1, 1, 0, 0]}"));
  Patch(dir / "b.onnx", "Conv", "Cnov");
  const Json json = Diff(dir / "a.onnx", dir / "b.onnx");
  bool found = false;
  for (const Json& c : json["operators"]["changed"])
    for (const Json& f : c["fields"])
      found |=
          f["what"] == "attribute pads" && f["a"] == "[1, 1, 1, 1]" && f["b"] == "[1, 1, 0, 0]";
  CHECK(found);
}

TEST_CASE("diff: across formats, changes by conversions are not differences") {
  const TempDir dir;
  // a.onnx, and a copy in which `from` is replaced by `to`.
  const auto diff_of = [&](const std::string& from, const std::string& to) {
    const ProgramResult converted =
        RunProgram("nnconvert -q --no-verify " + dir / from + " " + dir / to);
    REQUIRE_MESSAGE(converted.code == 0, converted.err);
    return Diff(dir / "a.onnx", dir / to);
  };
  // All kinds of padding that formats name, or express by separate nodes.
  const std::string edits[][2] = {
      {"conv(%b, %v)", "conv(%b, %v)"},
      {"{pads = [1, 1, 1, 1]}", "{pads = [2, 1, 0, 1]}"},
      {"{pads = [1, 1, 1, 1]}", "{padding = valid}"},
      {"{pads = [1, 1, 1, 1]}", "{padding = same_lower, strides = [2, 2]}"},
      {"{pads = [1, 1, 1, 1]}", "{pads = [1, 1, 1, 1], dilations = [2, 2]}"},
      {"relu(%a)", "max_pool(%a) {kernel = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1]}"},
      {"relu(%a)", "max_pool(%a) {kernel = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]}"},
      {"relu(%a)", "max_pool(%a) {kernel = [2, 2], strides = [2, 2], ceil_mode = true}"},
  };
  for (const auto& edit : edits) {
    WriteModel(dir / "a.onnx", Edited(edit[0], edit[1]));
    for (const std::string file : {"b.mlmodel", "b.tflite"}) {
      CAPTURE(edit[1]);
      CAPTURE(file);
      const Json json = diff_of("a.onnx", file);
      CHECK(json["form"] == "onnx");
      CHECK(json["equal"] == false);
      CHECK(json["model"][0]["what"] == "format");
      CHECK(json["weights"]["compared"] == 2);
      CHECK(json["weights"]["changed"].empty());
      CHECK(json["operators"]["changed"].dump() == "[]");
      CHECK(json["operators"]["only_in_a"].dump() == "[]");
      CHECK(json["operators"]["only_in_b"].dump() == "[]");
      CHECK(json["operators"]["matched"] == 3);
    }
  }
  WriteModel(dir / "a.onnx", kBase);
  // The inputs and outputs of NNAPI models have other axes: two transposes.
  const Json moved = diff_of("a.onnx", "b.nnapi");
  CHECK(moved["operators"]["matched"] == 3);
  CHECK(moved["operators"]["only_in_a"].empty());
  CHECK(moved["operators"]["only_in_b"].size() == 2);
  CHECK(moved["weights"]["changed"].empty());

  WriteModel(dir / "other.onnx", Edited("splat(0.5)", "splat(0.25)"));
  const Json json = diff_of("other.onnx", "b.tflite");
  CHECK(json["operators"]["changed"].empty());
  REQUIRE(json["weights"]["changed"].size() == 1);
  CHECK(json["weights"]["changed"][0]["different"] == 16);
  CHECK(json["weights"]["changed"][0]["max_absolute"] == 0.25);
  CHECK(Contains(RunProgram("nninspect --diff " + dir / "a.onnx " + dir / "b.tflite").out,
                 "The formats differ: both models are compared as ONNX models.\n"));
}

TEST_CASE("diff: models that are not graphs are compared field by field") {
  const TempDir dir;
  const auto write = [&](const std::string& name, int offset) {
    WriteText(dir / (name + ".json"), fmt::format(R"({{"nn_dump": 1, "format": "coreml", "model": {{
      "specificationVersion": 1, "description": {{}},
      "scaler": {{"shiftValue": [{}.5], "scaleValue": [2.0]}}}}}})",
                                                  offset));
    REQUIRE(RunProgram("nnconvert -q " + dir / name + ".json " + dir / name + ".mlmodel").code ==
            0);
  };
  write("a", 1);
  write("b", 2);
  CHECK(Diff(dir / "a.mlmodel", dir / "a.mlmodel")["equal"] == true);
  CHECK(Contains(RunProgram("nninspect --diff " + dir / "a.mlmodel " + dir / "a.mlmodel").out,
                 "no differences, field by field\n"));
  const Json json = Diff(dir / "a.mlmodel", dir / "b.mlmodel");
  CHECK(json["equal"] == false);
  REQUIRE(json["fields"].size() == 1);
  CHECK(json["fields"][0]["what"].get<std::string>().find("/model/scaler/shiftValue") == 0);
}

}  // namespace
}  // namespace nn::test::nninspect_diff_test
