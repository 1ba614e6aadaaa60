#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"

// Renaming inputs and outputs with nnconvert.
namespace nn::test::rename_test {
namespace {

namespace fs = std::filesystem;

ProgramResult Convert(const std::string& arguments) {
  return RunProgram("nnconvert " + arguments);
}

std::string DumpOf(const std::string& model) {
  const ProgramResult r = RunProgram("nninspect --dump " + model);
  CHECK_MESSAGE(r.code == 0, r.err);
  return r.out;
}

// A model that cannot be imported, with weights in w.bin.
std::string ControlModel(const std::string& x, const std::string& y) {
  return fmt::format(R"(ir_version: 7
producer_name: "someone"
producer_version: "1.2"
opset_import {{ version: 11 }}
opset_import {{ domain: "my.own" version: 3 }}
metadata_props {{ key: "author" value: "x" }}
graph {{ name: "g"
  node {{ op_type: "Odd" domain: "my.own" input: "{x}" output: "h" }}
  node {{ op_type: "If" input: "c" output: "{y}"
    attribute {{ name: "then_branch" type: GRAPH g {{ name: "t"
      node {{ op_type: "Add" input: "{x}" input: "w" output: "t1" }} output {{ name: "t1" }} }} }}
    attribute {{ name: "else_branch" type: GRAPH g {{ name: "e"
      node {{ op_type: "Neg" input: "h" output: "e1" }} output {{ name: "e1" }} }} }} }}
  initializer {{ dims: 2 data_type: 1 name: "w" data_location: EXTERNAL
    external_data {{ key: "location" value: "w.bin" }} }}
  input {{ name: "{x}" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 2 }} }} }} }} }}
  input {{ name: "c" type {{ tensor_type {{ elem_type: 9 shape {{ }} }} }} }}
  output {{ name: "{y}" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 2 }} }} }} }} }}
}})",
                     fmt::arg("x", x), fmt::arg("y", y));
}

TEST_CASE("nnconvert: renames keep operator set, subgraphs, unknown operators and other files") {
  const TempDir dir;
  fs::create_directories(dir / "out");
  WriteText(dir / "m.textproto", ControlModel("x", "y"));
  WriteText(dir / "want.textproto", ControlModel("image", "scores"));
  WriteText(dir / "w.bin", "12345678");
  const std::string names = " --rename-input x=image --rename-output y=scores";
  ProgramResult r = Convert(dir / "m.textproto " + dir / "out/m.onnx" + names);
  CHECK_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "renamed: nothing else was changed, converted or run\n"));
  CHECK(DumpOf(dir / "out/m.onnx") == DumpOf(dir / "want.textproto"));
  CHECK(ReadText(dir / "out/w.bin") == "12345678");
  CHECK(Listing(dir / "out") == "m.onnx\nw.bin\n");
  CHECK(Inspect(dir / "out/m.onnx")["format_version"] == "IR version 7, opset 11, my.own 3");

  r = Convert("--format json " + dir / "m.textproto " + dir / "out/m.onnx" + names);
  CHECK(Json::parse(r.out)["copy"] == true);
  CHECK(Json::parse(r.out)["renamed"] == true);
  CHECK(Json::parse(r.out)["written"] == true);
  r = Convert("--format json " + dir / "m.textproto " + dir / "out/copy.onnx");
  CHECK(Json::parse(r.out)["renamed"] == false);
  // Renamed back, it has the bytes of a copy.
  CHECK(Convert(dir / "out/m.onnx " + dir / "out/m.onnx --rename-input image=x --rename-output "
                                            "scores=y")
            .code == 0);
  CHECK(ReadText(dir / "out/m.onnx") == ReadText(dir / "out/copy.onnx"));
  // Such a model cannot be imported.
  CHECK(Convert("--rewrite " + dir / "m.textproto " + dir / "out/no.onnx" + names).code == 3);
  CHECK(Convert("--dry-run " + dir / "m.textproto " + dir / "out/no.onnx" + names).code == 0);
  CHECK_FALSE(Exists(dir / "out/no.onnx"));
}

TEST_CASE("nnconvert: renames move tensors as copies do") {
  const TempDir dir;
  fs::create_directories(dir / "out");
  WriteText(dir / "m.textproto", ControlModel("x", "y"));
  WriteText(dir / "w.bin", "12345678");
  const std::string in = dir / "m.textproto ";
  CHECK(Convert(in + dir / "out/a.onnx --rename-input x=z --external-data a.bin").code == 0);
  CHECK(ReadText(dir / "out/a.bin") == "12345678");
  CHECK(Convert(in + dir / "out/b.onnx --rename-input x=z --embed-data").code == 0);
  CHECK(Listing(dir / "out") == "a.bin\na.onnx\nb.onnx\n");
  CHECK(Inspect(dir / "out/b.onnx")["inputs"][0]["name"] == "z");
}

TEST_CASE("nnconvert: all names change at once") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", TwoOutputsModel());
  const std::string swap =
      " --rename-input a=b --rename-input b=a --rename-output sum=product --rename-output "
      "product=sum";
  for (const std::string path : {"", "--rewrite "}) {
    CAPTURE(path);
    const ProgramResult r = Convert(path + dir / "in.onnx " + dir / "out.onnx" + swap);
    CHECK_MESSAGE(r.code == 0, r.err);
    const Json json = Inspect(dir / "out.onnx");
    CHECK(json["inputs"][0]["name"] == "b");
    CHECK(json["inputs"][1]["name"] == "a");
    CHECK(json["outputs"][0]["name"] == "product");
    CHECK(json["outputs"][1]["name"] == "sum");
  }
  CHECK(Convert(dir / "in.onnx " + dir / "out.onnx --rename-input a=b --rename-input b=c").code ==
        0);
}

TEST_CASE("nnconvert: an ONNX input that is an output is renamed as both") {
  const TempDir dir;
  WriteText(dir / "m.textproto", R"(ir_version: 8 opset_import { version: 13 }
    graph { name: "g" node { op_type: "Relu" input: "x" output: "y" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
      output { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } })");
  const std::string command = dir / "m.textproto " + dir / "out.onnx --rename-input x=a";
  const ProgramResult r = Convert(command);
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "\"x\" is listed twice among the inputs and outputs"));
  CHECK(Convert(command + " --rename-output x=a").code == 0);
  CHECK(Inspect(dir / "out.onnx")["outputs"][1]["name"] == "a");
}

TEST_CASE("nnconvert: renamed models of every format compute the same") {
  const TempDir dir;
  for (const std::string extension :
       {"onnx", "tflite", "mlmodel", "mlpackage", "nnapi", "nnapi.json"}) {
    CAPTURE(extension);
    WriteModel(dir / "in.onnx", ConvModel());
    const std::string in = dir / ("in." + extension), out = dir / ("out." + extension);
    if (extension != "onnx") REQUIRE(Convert(dir / "in.onnx " + in).code == 0);
    const ProgramResult r =
        Convert(in + " " + out + " --rename-input x=image --rename-output y=scores");
    REQUIRE_MESSAGE(r.code == 0, r.err);
    CHECK(Inspect(out)["inputs"][0]["name"] == "image");
    CHECK(Inspect(out)["outputs"][0]["name"] == "scores");
    CHECK(RunProgram("nnvalidate " + out).code == RunProgram("nnvalidate " + in).code);
    CHECK(RunProgram("nnrun --digest " + in).code == 0);
    CHECK(RunProgram("nnrun --digest " + out).code == 0);
    CHECK(Convert(out + " " + dir / ("back." + extension) +
                  " --rename-input image=x --rename-output scores=y")
              .code == 0);
    CHECK(DumpOf(dir / ("back." + extension)) == DumpOf(in));
  }
}

TEST_CASE("nnconvert: names that cannot be given") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", TwoOutputsModel());
  WriteText(dir / "control.textproto", ControlModel("x", "y"));
  WriteText(dir / "w.bin", "12345678");
  WriteText(dir / "custom.json", R"({"nn_dump": 1, "format": "coreml", "model": {
    "specificationVersion": 3, "description": {
      "input": [{"name": "x", "type": {"doubleType": {}}}],
      "output": [{"name": "y", "type": {"doubleType": {}}}]},
    "customModel": {"className": "C"}}})");
  const std::string in = dir / "in.onnx", control = dir / "control.textproto";
  struct Row {
    std::string arguments;
    int code;
    std::string message;
  };
  for (const Row& r : {
           Row{in + " out.onnx --rename-input q=z", 2,
               "\"q=z\": unknown name; expected one of \"a\", \"b\""},
           Row{in + " out.onnx --rename-input a=z --rename-input a=y", 2,
               "\"a=y\": \"a\" is renamed twice"},
           Row{in + " out.onnx --rename-input a=$(printf '\\377')", 2,
               "\"a=\\xff\": the new name is not UTF-8"},
           Row{in + " out.onnx --rename-input a=", 2, "\"a=\": the new name is empty"},
           Row{in + " out.onnx --rename-input a=b", 2,
               "\"a=b\": the model already has an input or output of that name"},
           Row{in + " out.onnx --rename-output sum=a", 2,
               "\"sum=a\": the model already has an input or output of that name"},
           Row{in + " out.onnx --rename-input a=z --rename-output sum=z", 2,
               "\"sum=z\": the model already has an input or output of that name"},
           Row{control + " out.onnx --rename-input x=t1", 2,
               "control.textproto: the new name \"t1\" is already used: "
               "graph.node[1].then_branch.node[0].output[0]"},
           Row{dir / "custom.json" + " out.mlmodel --rename-input x=z", 3,
               "custom.json: the names of inputs and outputs cannot be changed: customModel "
               "determines them itself"},
           Row{in + " out.json --rename-input a=z", 2,
               "--rename-input changes the model, but a dump is a copy"},
       }) {
    CAPTURE(r.arguments);
    const std::string listing = Listing(dir.path());
    const ProgramResult result = Convert(r.arguments);
    CHECK(result.code == r.code);
    CHECK(result.out.empty());
    CHECK_MESSAGE(Contains(result.err, r.message), result.err);
    CHECK(Listing(dir.path()) == listing);
  }
}

}  // namespace
}  // namespace nn::test::rename_test
