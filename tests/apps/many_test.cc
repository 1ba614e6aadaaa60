// Folders and patterns of models: nninspect, nnrun, and patterns of nnconvert.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"

namespace nn::test::many_test {
namespace {

namespace fs = std::filesystem;

std::string Model(const std::string& op, const std::string& dim = "dim_value: 3") {
  return fmt::format(R"(ir_version: 8 opset_import {{ version: 13 }}
    graph {{ name: "g" node {{ op_type: "{0}" input: "x" output: "y" }}
      input {{ name: "x" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ {1} }} }} }} }} }}
      output {{ name: "y" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ {1} }} }} }} }} }} }})",
                     op, dim);
}

// Three models, one of which cannot run, one damaged file, and others.
void WriteZoo(const TempDir& dir) {
  fs::create_directories(dir / "zoo/sub");
  fs::create_directories(dir / "zoo/.hidden");
  WriteText(dir / "zoo/a.textproto", Model("Relu"));
  WriteText(dir / "zoo/sub/b.textproto", Model("Neg"));
  WriteText(dir / "zoo/sub/odd.textproto", Model("Odd"));
  WriteText(dir / "zoo/broken.onnx", "no model");
  WriteText(dir / "zoo/.hidden/c.textproto", Model("Abs"));
  WriteText(dir / "zoo/README.md", "text");
}

std::vector<Json> LinesOf(const std::string& text) {
  std::vector<Json> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(Json::parse(line));
  return out;
}

TEST_CASE("nninspect: a table of a folder, and JSON lines") {
  const TempDir dir;
  WriteZoo(dir);
  ProgramResult r = RunProgram("nninspect " + dir / "zoo" + " --jobs 2");
  CHECK(r.code == 2);
  CHECK(Contains(r.out, "4 models: 3 inspected, 1 failed"));
  CHECK(Contains(r.out, "sub/odd.textproto"));
  CHECK(Contains(r.out, "1 (Odd)"));
  CHECK(Contains(r.out, "broken.onnx"));
  CHECK_FALSE(Contains(r.out, "hidden"));
  r = RunProgram("nninspect '" + dir / "zoo/**/*.textproto" + "' --values --format json");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const std::vector<Json> lines = LinesOf(r.out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["path"] == dir / "zoo/a.textproto");
  const Json schema = Json::parse(ReadText(SourcePath("schemas/nninspect.schema.json")));
  for (const Json& line : lines) CHECK(SchemaErrors(schema, line).empty());
  CHECK(lines[1]["values"][1]["name"] == "y");
  r = RunProgram("nninspect --format json " + dir / "zoo");
  CHECK(r.code == 2);
  CHECK(Contains(LinesOf(r.out)[1]["error"].get<std::string>(), "not a ModelProto"));
  for (const char* options : {"--format svg", "--values", "--dump"})
    CHECK(RunProgram(fmt::format("nninspect {} {}", options, dir / "zoo")).code == 2);
  CHECK(RunProgram("nninspect --jobs 2 " + dir / "zoo/a.textproto").code == 2);
}

TEST_CASE("nnrun: outputs of a folder, with the bits of single runs, and resumed") {
  const TempDir dir;
  WriteZoo(dir);
  const std::string run = "nnrun " + dir / "zoo" + " --seed 7 -o " + dir / "out";
  ProgramResult r = RunProgram(run + " --digest");
  CHECK(r.code == 2);
  CHECK(Contains(r.out, "4 models: 2 run, 1 failed, 1 unsupported"));
  CHECK(Contains(r.out, "sha256:"));
  const std::string one = "nnrun " + dir / "zoo/sub/b.textproto" + " --seed 7 -o " + dir / "b.npz";
  REQUIRE(RunProgram(one).code == 0);
  CHECK(ReadText(dir / "out/sub/b.npz") == ReadText(dir / "b.npz"));
  fs::remove(dir / "out/a.npz");
  WriteText(dir / "out/sub/b.npz", "kept");
  r = RunProgram(run + " --resume --format json");
  CHECK(r.code == 2);
  const std::vector<Json> lines = LinesOf(r.out);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0]["output"] == dir / "out/a.npz");
  CHECK(lines[1].contains("error"));
  CHECK(lines[2]["skipped"] == dir / "out/sub/b.npz");
  CHECK(ReadText(dir / "out/sub/b.npz") == "kept");
  CHECK(RunProgram("nnrun '" + dir / "zoo/*.textproto" + "' -o " + dir / "b.npz").code == 2);
  CHECK(RunProgram("nnrun '" + dir / "zoo/*.textproto" + "' --bench").code == 2);
  CHECK(RunProgram("nnrun '" + dir / "zoo/*.nothing" + "'").code == 2);
  CHECK(RunProgram("nnrun --resume " + dir / "zoo/a.textproto").code == 2);
}

TEST_CASE("nnrun: models that differ in their extension keep it") {
  const TempDir dir;
  WriteText(dir / "m.textproto", Model("Relu"));
  WriteText(dir / "m.pbtxt", Model("Neg"));
  REQUIRE(RunProgram("nnrun '" + dir / "m.*" + "' -o " + dir / "out").code == 0);
  CHECK(fs::exists(dir / "out/m.textproto.npz"));
  CHECK(fs::exists(dir / "out/m.pbtxt.npz"));
}

TEST_CASE("nnconvert: a pattern") {
  const TempDir dir;
  WriteZoo(dir);
  const ProgramResult r = RunProgram("nnconvert '" + dir / "zoo/**/[ab].textproto" + "' " +
                                     dir / "out" + " --to tflite");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "2 models: 2 converted"));
  CHECK(fs::exists(dir / "out/a.tflite"));
  CHECK(fs::exists(dir / "out/sub/b.tflite"));
}

}  // namespace
}  // namespace nn::test::many_test
