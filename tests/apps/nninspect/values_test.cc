// nninspect --values, and nnconvert --infer-shapes, which states the same types in ONNX files.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "ir/types/dtype.h"
#include "support/files.h"

namespace nn::test::nninspect_values_test {
namespace {

// A product, a branch with a value of its own, a sequence, and a size that depends on data.
constexpr const char* kModel = R"(ir_version: 8
  opset_import { version: 17 }
  graph {
    name: "g"
    node { op_type: "MatMul" input: "x" input: "w" output: "p" name: "product" }
    node { op_type: "NonZero" input: "p" output: "at" }
    node { op_type: "SequenceConstruct" input: "p" input: "x" output: "s" }
    node {
      op_type: "If" input: "c" output: "y" name: "choice"
      attribute { name: "then_branch" type: GRAPH g {
        name: "t"
        node { op_type: "Relu" input: "p" output: "inner" }
        node { op_type: "Neg" input: "inner" output: "t_y" }
        output { name: "t_y" }
      } }
      attribute { name: "else_branch" type: GRAPH g {
        name: "e"
        node { op_type: "Abs" input: "p" output: "e_y" }
        output { name: "e_y" }
      } }
    }
    initializer { name: "w" data_type: 1 dims: 2 dims: 3 float_data: [1, 2, 3, 4, 5, 6] }
    input { name: "x" type { tensor_type { elem_type: 1
      shape { dim { dim_param: "N" } dim { dim_value: 2 } } } } }
    input { name: "c" type { tensor_type { elem_type: 9 shape {} } } }
    output { name: "y" type { tensor_type { elem_type: 1 } } }
    output { name: "at" type { tensor_type { elem_type: 7 } } }
  })";

Json TypeIn(const Json& values, std::string_view name, std::string_view scope = "") {
  for (const Json& v : values)
    if (v["name"] == name && v["scope"] == scope) return v["type"];
  return "no such value";
}

TEST_CASE("nninspect --values: types of all values, in subgraphs, too") {
  const TempDir dir;
  WriteText(dir / "m.textproto", kModel);
  CHECK(RunProgram("nninspect --values " + dir / "m.textproto").out ==
        dir / "m.textproto" +
            ": ONNX, IR version 8, opset 17\n"
            "\n"
            "Values: 10\n"
            "  name   scope               role      type\n"
            "  x                          input     f32[N, 2]\n"
            "  c                          input     bool[]\n"
            "  w                          constant  f32[2, 3]\n"
            "  p                          result    f32[N, 3]\n"
            "  at                         result    i64[2, ?]\n"
            "  s                          result    seq(f32[N, ?])\n"
            "  y                          result    f32[N, 3]\n"
            "  inner  choice.then_branch  result    f32[N, 3]\n"
            "  t_y    choice.then_branch  result    f32[N, 3]\n"
            "  e_y    choice.else_branch  result    f32[N, 3]\n");
  const Json values = Inspect("--values " + dir / "m.textproto")["values"];
  CHECK(TypeIn(values, "p") == Json::parse(R"({"elem": "FLOAT", "shape": ["N", 3]})"));
  CHECK(TypeIn(values, "at") == Json::parse(R"({"elem": "INT64", "shape": [2, null]})"));
  CHECK(TypeIn(values, "s") ==
        Json::parse(R"({"sequence": {"elem": "FLOAT", "shape": ["N", null]}})"));
  CHECK(TypeIn(values, "inner", "choice.then_branch") == TypeIn(values, "p"));
  CHECK(RunProgram("nninspect --values --format csv " + dir / "m.textproto")
            .out.starts_with("name,scope,role,type\nx,,input,\"f32[N, 2]\"\n"));
  // With a shape that is given.
  const Json bound = Inspect("--values --input-shape x:5,2 " + dir / "m.textproto")["values"];
  CHECK(TypeIn(bound, "y") == Json::parse(R"({"elem": "FLOAT", "shape": [5, 3]})"));
}

TEST_CASE("nninspect --values: shapes follow in spite of a wrong element type") {
  const TempDir dir;
  WriteText(dir / "m.textproto", R"(ir_version: 8
    opset_import { version: 17 }
    graph {
      name: "g"
      node { op_type: "Conv" input: "x" input: "w" output: "y" }
      node { op_type: "Col2Im" input: "d" input: "size" input: "block" output: "z" }
      input { name: "x" type { tensor_type { elem_type: 1
        shape { dim { dim_value: 1 } dim { dim_value: 3 } dim { dim_value: 8 } dim { dim_value: 8 } } } } }
      input { name: "w" type { tensor_type { elem_type: 7
        shape { dim { dim_value: 4 } dim { dim_value: 3 } dim { dim_value: 3 } dim { dim_value: 3 } } } } }
      input { name: "d" type { tensor_type { elem_type: 11 } } }
      input { name: "size" type { tensor_type { elem_type: 7 } } }
      input { name: "block" type { tensor_type { elem_type: 7 } } }
      output { name: "y" type { tensor_type { elem_type: 1 } } }
      output { name: "z" type { tensor_type { elem_type: 11 } } }
    })");
  const Json values = Inspect("--values " + dir / "m.textproto")["values"];
  CHECK(TypeIn(values, "y") == Json::parse(R"({"elem": "FLOAT", "shape": [1, 4, 6, 6]})"));
  CHECK(TypeIn(values, "z") == Json::parse(R"({"elem": "DOUBLE"})"));
  CHECK(RunProgram("nnvalidate -q " + dir / "m.textproto").code == 1);
}

TEST_CASE("nninspect --values: formats without inference of their own have the graph's types") {
  const TempDir dir;
  WriteModel(dir / "m.tflite", R"(graph "g" {
    in %x: i8[1, 4]{scale=0.5, zp=3}
    const %w: f32[2] = [1, 2]
    %y = relu(%x): i8[1, 4]{scale=0.5, zp=3}
    out "y" = %y
  })");
  const Json values = Inspect("--values " + dir / "m.tflite")["values"];
  CHECK(TypeIn(values, "y") == Json::parse(R"({"elem": "INT8", "shape": [1, 4],
                                              "quantization": "scale=0.5, zp=3"})"));
  CHECK(values[0]["role"] == "input");
}

TEST_CASE("nnconvert --infer-shapes: the types stand in the file") {
  const TempDir dir;
  WriteText(dir / "m.textproto", kModel);
  const ProgramResult r =
      RunProgram("nnconvert --infer-shapes " + dir / "m.textproto " + dir / "typed.textproto");
  CHECK(r.code == 0);
  CHECK(Contains(r.out, "copied with the inferred types: nothing was converted or run"));
  const std::string text = ReadText(dir / "typed.textproto");
  // Results of the main graph and of the branches; outputs get the shapes that they lacked.
  CHECK(RunProgram("nnvalidate -q " + dir / "m.textproto").code == 1);
  size_t count = 0;
  for (size_t at = text.find("value_info {"); at != std::string::npos;
       at = text.find("value_info {", at + 1))
    ++count;
  CHECK(count == 3);
  CHECK(RunProgram("nnvalidate -q " + dir / "typed.textproto").code == 0);
  CHECK(Inspect("--hash " + dir / "m.textproto")["hash"] ==
        Inspect("--hash " + dir / "typed.textproto")["hash"]);
  // A second time, there is nothing to add.
  const ProgramResult again =
      RunProgram("nnconvert --infer-shapes " + dir / "typed.textproto " + dir / "again.textproto");
  CHECK(again.code == 2);
  CHECK(Contains(again.err, "--infer-shapes has no effect"));

  const ProgramResult other =
      RunProgram("nnconvert --infer-shapes " + dir / "m.textproto " + dir / "m.tflite");
  CHECK(other.code == 2);
  CHECK(Contains(other.err, "--infer-shapes is for ONNX; the output is TensorFlow Lite"));
  CHECK(RunProgram("nnconvert --infer-shapes " + dir / "m.textproto " + dir / "m.json").code == 2);
}

// An output, and a value between operators, that were left behind when the input got another size.
TEST_CASE("nnconvert --infer-shapes: types that the operators contradict are replaced") {
  const TempDir dir;
  const auto port = [](const char* kind, const char* name, int size) {
    return fmt::format(
        "{} {{ name: \"{}\" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: {} }} "
        "}} }} "
        "}} }} ",
        kind, name, size);
  };
  const std::string graph = R"(ir_version: 8 opset_import { version: 13 } graph { name: "g"
      node { op_type: "Relu" input: "x" output: "a" }
      node { op_type: "Neg" input: "a" output: "y" } )";
  WriteText(dir / "m.textproto", graph + port("input", "x", 2) + port("output", "y", 1) +
                                     port("value_info", "a", 1) + "}");
  const ProgramResult r =
      RunProgram("nnconvert --infer-shapes " + dir / "m.textproto " + dir / "typed.textproto");
  CHECK(r.code == 0);
  CHECK(
      Contains(r.out,
               "the inferred types of 2 results replace the declared: \"a\" is declared as f32[1], "
               "but Relu returns f32[2]; \"y\" is declared as f32[1], but Neg returns f32[2]"));
  CHECK(RunProgram("nnvalidate -q " + dir / "m.textproto").code == 1);
  CHECK(RunProgram("nnvalidate -q " + dir / "typed.textproto").code == 0);
  const ProgramResult report = RunProgram("nnconvert --infer-shapes --format json " +
                                          dir / "m.textproto " + dir / "json.textproto");
  CHECK(Json::parse(report.out)["notes"].size() == 1);
  // Symbols agree with numbers.
  WriteText(dir / "n.textproto", graph + port("input", "x", 2) +
                                     R"(output { name: "y" type { tensor_type { elem_type: 1 shape {
                   dim { dim_param: "n" } } } } } })");
  const ProgramResult open =
      RunProgram("nnconvert --infer-shapes " + dir / "n.textproto " + dir / "open.textproto");
  CHECK(open.code == 0);
  CHECK(!Contains(open.out, "replace"));
  CHECK(Contains(ReadText(dir / "open.textproto"), "dim_param: \"n\""));
}

TEST_CASE("nninspect --values: element types have the names of ONNX's schema") {
  const TempDir dir;
  int known = 0;
  for (int type = 1; type < 32; ++type) {
    WriteText(dir / "m.textproto", fmt::format(R"(ir_version: 10
      opset_import {{ version: 17 }}
      graph {{
        name: "g"
        node {{ op_type: "Identity" input: "x" output: "y" }}
        input {{ name: "x" type {{ tensor_type {{ elem_type: {} }} }} }}
        output {{ name: "y" type {{ tensor_type {{ elem_type: {} }} }} }}
      }})",
                                               type, type));
    const Json json = Inspect("--values " + dir / "m.textproto");
    const Json& elem = json["values"][0]["type"]["elem"];
    if (elem == "UNDEFINED") continue;
    CHECK(json["inputs"][0]["type"] == elem);
    ++known;
  }
  CHECK(known == kDTypeCount - 1);
}

}  // namespace
}  // namespace nn::test::nninspect_values_test
