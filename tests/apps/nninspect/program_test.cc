#include <doctest/doctest.h>

#include <filesystem>

#include "apps/inspect.h"
#include "apps/program.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"

namespace nn::test::nninspect_test {
namespace {

TEST_CASE("the schema checker finds what is wrong") {
  const Json schema = Json::parse(ReadText(SourcePath("schemas/nninspect.schema.json")));
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const Json good = Inspect(dir / "m.onnx --nodes");
  CHECK(SchemaErrors(schema, good).empty());
  const auto errors = [&](auto change) {
    Json bad = good;
    change(bad);
    return SchemaErrors(schema, bad);
  };
  using Errors = std::vector<std::string>;
  CHECK(errors([](Json& j) { j["version"] = 2; }) == Errors{"/version: is not 1"});
  CHECK(errors([](Json& j) { j.erase("inputs"); }) == Errors{": lacks \"inputs\""});
  CHECK(errors([](Json& j) { j["more"] = 1; }) == Errors{": has an undescribed more"});
  CHECK(errors([](Json& j) { j["parameters"]["count"] = -1; }) ==
        Errors{"/parameters/count: is below 0"});
  CHECK(errors([](Json& j) { j["inputs"][0]["shape"][1] = 0.5; }) ==
        Errors{"/inputs/0/shape/1: is a number, not [\"integer\",\"string\"]"});
  CHECK(errors([](Json& j) { j["nodes"][0].erase("scope"); }) ==
        Errors{"/nodes/0: lacks \"scope\""});
  CHECK(!SchemaErrors(Json{{"pattern", "x"}}, Json("x")).empty());
}

TEST_CASE("nninspect: the text summary") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const ProgramResult r = RunProgram("nninspect " + dir / "m.onnx");
  CHECK(r.code == 0);
  CHECK(r.err.empty());
  CHECK(r.out == dir /
                     "m.onnx: ONNX, IR version 8, opset 17\n"
                     "  Producer  nnconvert\n"
                     "  Name      small\n"
                     "\n"
                     "Inputs\n"
                     "  x  FLOAT  [1, 3, 8, 8]\n"
                     "\n"
                     "Outputs\n"
                     "  y  FLOAT  [1, 4, 8, 8]\n"
                     "\n"
                     "Operators: 2\n"
                     "  Conv  1\n"
                     "  Relu  1\n"
                     "\n"
                     "Parameters     112 (448 B)\n"
                     "Multiply-adds  6,912\n"
                     "File           667 B\n");
}

TEST_CASE("nninspect and nnvalidate: a Core ML package") {
  const TempDir dir;
  const std::string data = dir / "m.mlpackage/Data/com.apple.CoreML";
  std::filesystem::create_directories(data);
  WriteModel(data + "/model.mlmodel", ConvModel());
  WriteText(dir / "m.mlpackage/Manifest.json", R"({"fileFormatVersion": "1.0.0",
    "rootModelIdentifier": "A", "itemInfoEntries": {"A": {"path": "com.apple.CoreML/model.mlmodel",
      "name": "model.mlmodel", "author": "com.apple.CoreML", "description": ""}}})");
  const Json j = Inspect(dir / "m.mlpackage --nodes");
  CHECK(j["format"] == "Core ML");
  CHECK(j["parameters"]["count"] == 112);
  CHECK(j["nodes"].size() == 2);
  CHECK(RunProgram("nnvalidate " + dir / "m.mlpackage/").code == 0);
  std::filesystem::remove(dir / "m.mlpackage/Manifest.json");
  const ProgramResult r = RunProgram("nnvalidate " + dir / "m.mlpackage");
  CHECK(r.code == 1);
  CHECK(Contains(r.out, "COREML-FILE-001"));
  CHECK(Contains(r.out, "the folder has no Manifest.json"));
  CHECK(RunProgram("nninspect " + dir / "m.mlpackage").code == 2);
  std::filesystem::create_directory(dir / "m.mlmodelc");
  CHECK(RunProgram("nninspect " + dir / "m.mlmodelc").code == 3);
}

// A compiled model of two functions, as nninspect --mil prints it.
constexpr std::string_view kTwoFunctions = R"(program(1.0)
{
    func main<ios17>(tensor<fp32, [2]> x) {
        tensor<fp32, [2]> y = mul(x = x, y = fp32(0x1p+1));
    } -> (y);
    func thrice<ios18>(tensor<fp32, [3]> x) {
        tensor<fp32, [3]> y = mul(x = x, y = fp32(0x1.8p+1));
    } -> (y);
}
)";

TEST_CASE("nninspect --mil: the program of a model as text, which is a model again") {
  const TempDir dir;
  std::filesystem::create_directories(dir / "m.mlmodelc");
  WriteText(dir / "m.mlmodelc/model.mil", kTwoFunctions);
  const ProgramResult text = RunProgram("nninspect --mil " + dir / "m.mlmodelc");
  CHECK(text.code == 0);
  CHECK(text.err.empty());
  CHECK(text.out == kTwoFunctions);
  const ProgramResult file =
      RunProgram("nninspect --mil -o " + dir / "m.mil " + dir / "m.mlmodelc");
  CHECK(file.code == 0);
  CHECK(file.out.empty());
  CHECK(ReadText(dir / "m.mil") == kTwoFunctions);

  WriteModel(dir / "p.onnx", ConvModel());
  REQUIRE(RunProgram("nnconvert --core-ml program " + dir / "p.onnx " + dir / "p.mlmodel").code ==
          0);
  const ProgramResult written = RunProgram("nninspect --mil " + dir / "p.mlmodel");
  REQUIRE_MESSAGE(written.code == 0, written.err);
  CHECK(Contains(written.out, "func main<ios15>(tensor<fp32, [1, 3, 8, 8]> x) {\n"));
  CHECK(Contains(written.out, " = conv("));
  std::filesystem::create_directories(dir / "p.mlmodelc");
  WriteText(dir / "p.mlmodelc/model.mil", written.out);
  CHECK(RunProgram("nninspect --mil " + dir / "p.mlmodelc").out == written.out);
}

TEST_CASE("nninspect --mil: models without a program, and options that it does not have") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  WriteModel(dir / "n.mlmodel", ConvModel());
  std::filesystem::create_directories(dir / "m.mlmodelc");
  WriteText(dir / "m.mlmodelc/model.mil", kTwoFunctions);
  struct Row {
    std::string arguments;
    int code;
    std::string message;
  };
  for (const Row& r : {
           Row{"--mil " + dir / "m.onnx", 3, "ONNX has no text form of programs"},
           Row{"--mil " + dir / "n.mlmodel", 3, "the model has 0 ML Programs"},
           Row{"--mil --nodes " + dir / "m.mlmodelc", 2,
               "--mil cannot be combined with options other than --output"},
           Row{"--mil --dump " + dir / "m.mlmodelc", 2, "--dump excludes --mil"},
           Row{"--mil --function thrice " + dir / "m.mlmodelc", 2, "--mil excludes --function"},
           Row{"--dump --function thrice " + dir / "m.mlmodelc", 2, "--dump excludes --function"},
           Row{"--git-text --function thrice " + dir / "m.mlmodelc", 2,
               "--git-text can be combined with --output and limits only"},
       }) {
    CAPTURE(r.arguments);
    const ProgramResult result = RunProgram("nninspect " + r.arguments);
    CHECK(result.code == r.code);
    CHECK(result.out.empty());
    CHECK_MESSAGE(Contains(result.err, r.message), result.err);
  }
}

TEST_CASE("nninspect: the table of operators") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const ProgramResult r = RunProgram("nninspect --nodes " + dir / "m.onnx");
  CHECK(r.code == 0);
  CHECK(
      Contains(r.out,
               "#  operator  name   inputs   outputs  attributes\n"
               "0  Conv      conv1  x, w, b  hidden   kernel_shape = [3, 3], pads = [1, 1, 1, 1]\n"
               "1  Relu      relu1  hidden   y\n"));
}

TEST_CASE("nninspect --format csv: no cell is a formula") {
  const TempDir dir;
  WriteText(dir / "m.textproto", R"(
    ir_version: 8 opset_import { version: 13 }
    graph { name: "g"
      node { op_type: "Relu" name: "=LINK(\"x\") " input: "x" output: "@a" }
      node { op_type: "Relu" name: "-1.5e3" input: "@a" output: "b" }
      node { op_type: "Relu" name: "+b" input: "b" output: "c;d" }
      node { op_type: "Relu" name: "\357\274\235x" input: "c;d" output: "y" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 5 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 5 } } } } } })");
  const ProgramResult r = RunProgram("nninspect --nodes --format csv " + dir / "m.textproto");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  for (const char* cell :
       {",\"'=LINK(\"\"x\"\") \",", ",'@a,", ",-1.5e3,", ",'+b,", ",\"c;d\",", ",'\uff1dx,"})
    CHECK_MESSAGE(Contains(r.out, cell), r.out);
}

TEST_CASE("nninspect: JSON has the same contents") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const Json json = Inspect(dir / "m.onnx --nodes");
  CHECK(json["format"] == "ONNX");
  CHECK(json["format_version"] == "IR version 8, opset 17");
  CHECK(json["file_bytes"] == ReadText(dir / "m.onnx").size());
  CHECK(json["inputs"] ==
        Json::parse(R"([{"name": "x", "type": "FLOAT", "shape": [1, 3, 8, 8]}])"));
  CHECK(json["operators"]["count"] == 2);
  CHECK(json["parameters"] == Json::parse(R"({"count": 112, "bytes": 448})"));
  // 8 * 8 positions, 4 * 3 channels, 3 * 3 taps, of which 22 * 22 of 24 * 24 rows and columns
  // count.
  CHECK(json["multiply_adds"]["count"] == 8 * 8 * 4 * 3 * 3 * 3);
  CHECK(json["multiply_adds"]["complete"] == true);
  CHECK(json["nodes"][0]["inputs"] == Json::parse(R"(["x", "w", "b"])"));
  CHECK(json["nodes"][0]["attributes"][1] ==
        Json::parse(R"({"name": "pads", "value": "[1, 1, 1, 1]"})"));
  CHECK(!Inspect(dir / "m.onnx").contains("nodes"));
}

TEST_CASE("nninspect: dynamic dimensions, and shapes that bind them") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BatchModel());
  const Json open = Inspect(dir / "m.onnx");
  CHECK(open["inputs"][0]["shape"] == Json::parse(R"(["batch", 3, 8, 8])"));
  CHECK(open["dynamic_dimensions"] == Json::parse(R"([{"symbol": "batch", "where": [
      {"role": "input", "tensor": "x", "axis": 0}, {"role": "output", "tensor": "y", "axis": 0}]}])"));
  CHECK(open["multiply_adds"]["count"].is_null());
  CHECK(open["multiply_adds"]["complete"] == false);
  CHECK(Contains(open["multiply_adds"]["notes"][0].get<std::string>(),
                 "unknown: set input shapes with"));
  const ProgramResult text = RunProgram("nninspect " + dir / "m.onnx");
  CHECK(Contains(text.out,
                 "Dynamic dimensions\n"
                 "  batch  input \"x\" axis 0, output \"y\" axis 0\n"));
  for (const char* given : {" --batch 5", " --input-shape x:5,3,8,8"}) {
    const Json bound = Inspect(dir / "m.onnx" + given);
    CHECK(bound["outputs"][0]["shape"] == Json::parse("[5, 4, 8, 8]"));
    CHECK(bound["dynamic_dimensions"].empty());
    CHECK(bound["multiply_adds"]["count"] == 5 * 6912);
  }
}

TEST_CASE("nninspect: shapes that do not fit are usage errors") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BatchModel());
  WriteModel(dir / "fixed.onnx", ConvModel());
  struct Row {
    std::string arguments;
    std::string message;
  };
  for (const Row& r : {
           Row{"m.onnx --input-shape y:1", "no input named \"y\""},
           Row{"m.onnx --input-shape x", "expected NAME:SIZE,SIZE,..."},
           Row{"m.onnx --input-shape x:1,a", "is not a list of sizes"},
           Row{"m.onnx --input-shape x:1,,2", "is not a list of sizes"},
           Row{"m.onnx --input-shape x:1,", "is not a list of sizes"},
           Row{"m.onnx --input-shape x:-1,3,8,8", "is not a list of sizes"},
           Row{"m.onnx --input-shape x:1,3,8", "does not fit"},
           Row{"m.onnx --input-shape x:1,4,8,8", "does not fit"},
           Row{"m.onnx --input-shape x:1,3,8,8 --input-shape x:1,3,8,8", "already has a shape"},
           Row{"m.onnx --batch -1", "cannot be negative"},
           Row{"m.onnx --batch x", "--batch"},
           Row{"fixed.onnx --batch 2", "no input has a symbolic first dimension"},
       }) {
    CAPTURE(r.arguments);
    const ProgramResult result = RunProgram("nninspect " + dir / r.arguments);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK_MESSAGE(Contains(result.err, r.message), result.err);
  }
}

TEST_CASE("nninspect: operators that are not supported") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  Patch(dir / "m.onnx", "Relu", "R\x1bl\"");
  const Json json = Inspect(dir / "m.onnx");
  CHECK(json["operators"]["count"] == 2);
  CHECK(json["unsupported"][0]["operator"] == "R\x1bl\"");
  CHECK(json["unsupported"][0]["count"] == 1);
  CHECK(json["multiply_adds"]["count"] == 6912);
  CHECK(json["multiply_adds"]["complete"] == false);
  const ProgramResult text = RunProgram("nninspect --nodes " + dir / "m.onnx");
  CHECK(text.code == 0);
  CHECK(text.out.find('\x1b') == std::string::npos);
  CHECK(Contains(text.out, "R\\x1bl\\\""));
  CHECK(Contains(text.out, "Unsupported\n"));
}

TEST_CASE("nninspect: standard input and output, files, determinism") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const ProgramResult piped = RunProgram("nninspect - --format json", ReadText(dir / "m.onnx"));
  CHECK(piped.code == 0);
  const Json json = Json::parse(piped.out);
  CHECK(json["path"] == "-");
  CHECK(!json.contains("file_bytes"));
  const ProgramResult file = RunProgram("nninspect " + dir / "m.onnx -o " + dir / "out.txt");
  CHECK(file.code == 0);
  CHECK(file.out.empty());
  CHECK(ReadText(dir / "out.txt") == RunProgram("nninspect " + dir / "m.onnx").out);
  CHECK(Listing(dir.path()) == "m.onnx\nout.txt\n");
}

TEST_CASE("nninspect: files that are not models, and usage errors") {
  const TempDir dir;
  WriteText(dir / "lfs.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
  WriteText(dir / "page.onnx", "  <!DOCTYPE html><html></html>");
  WriteText(dir / "empty.onnx", "");
  WriteText(dir / "text.txt", "hello");
  WriteText(dir / "cut.onnx", "\x08\x08\x3A\x70");
  struct Row {
    std::string arguments;
    std::string message;
  };
  for (const Row& r : {
           Row{dir / "lfs.onnx", "Git LFS pointer"},
           Row{dir / "page.onnx", "HTML page"},
           Row{dir / "empty.onnx", "is empty"},
           Row{dir / "text.txt", "this is a text file, not a model"},
           Row{dir / "cut.onnx", "cut.onnx: "},
           Row{dir / "none.onnx", "No such file"},
           Row{dir / "none", "No such file"},
           Row{"'" + dir / "*.nothing" + "'", "no file matches the pattern"},
           Row{"", "MODEL is required"},
           Row{"a.onnx b.onnx", "unexpected argument"},
           Row{"a.onnx --format xml", "xml"},
           Row{"a.onnx --nosuch", "--nosuch"},
       }) {
    CAPTURE(r.arguments);
    const ProgramResult result = RunProgram("nninspect " + r.arguments);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK_MESSAGE(Contains(result.err, r.message), result.err);
    CHECK(result.err.starts_with("nninspect: error: "));
  }
  const ProgramResult quiet = RunProgram("nninspect -q " + dir / "text.txt");
  CHECK(quiet.code == 2);
  CHECK(!quiet.err.empty());
}

TEST_CASE("nninspect: --format json states the error that ends a run") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  WriteText(dir / "text.txt", "hello");
  struct Row {
    std::string arguments;
    std::string path;  // none with --diff
  };
  for (const Row& r : {
           Row{dir / "nosuch.onnx", dir / "nosuch.onnx"},
           Row{dir / "text.txt --nodes", dir / "text.txt"},
           Row{dir / "m.onnx --input-shape z:1", dir / "m.onnx"},
           Row{dir / "m.onnx --expand", dir / "m.onnx"},
           Row{"--diff " + dir / "m.onnx " + dir / "nosuch.onnx", ""},
       }) {
    CAPTURE(r.arguments);
    const ProgramResult result = RunProgram("nninspect --format json " + r.arguments);
    CHECK(result.code == 2);
    const Json json = Json::parse(result.out);
    CHECK(json["version"] == 1);
    CHECK(json["tool"]["name"] == "nninspect");
    CHECK(json.value("path", "") == r.path);
    CHECK(Contains(result.err, json["error"].get<std::string>()));
    // The file of --output is not written.
    const std::string output = " -o " + dir / "out.json";
    CHECK(RunProgram("nninspect --format json " + r.arguments + output).out.empty());
    CHECK_FALSE(Exists(dir / "out.json"));
  }
}

TEST_CASE("every program has --help and --version") {
  for (const std::string name : {"nninspect", "nnvalidate", "nnconvert", "nnrun"}) {
    CAPTURE(name);
    const ProgramResult help = RunProgram(name + " --help");
    CHECK(help.code == 0);
    CHECK(help.err.empty());
    CHECK(Contains(help.out, "Usage: " + name));
    CHECK(Contains(help.out, "Exit codes: 0 success"));
    const ProgramResult version = RunProgram(name + " --version");
    CHECK(version.code == 0);
    CHECK(version.out.starts_with(name + " "));
    CHECK(RunProgram(name + " --nosuch").code == 2);
  }
}

}  // namespace
}  // namespace nn::test::nninspect_test
