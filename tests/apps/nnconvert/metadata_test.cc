// What nnconvert keeps of TensorFlow Lite models that it writes again.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"

namespace nn::test::nnconvert_metadata_test {
namespace {

// y = -relu(relu(x)), with one signature, or two, the second of which runs a subgraph of its own.
std::string ModelText(bool has_second) {
  const std::string second_graph = R"(,
    {"tensors": [{"shape": [1, 2], "buffer": 0, "name": "p"},
                 {"shape": [1, 2], "buffer": 0, "name": "q"}],
     "inputs": [0], "outputs": [1],
     "operators": [{"opcode_index": 1, "inputs": [0], "outputs": [1]}], "name": "second"})";
  const std::string second = R"(,
    {"inputs": [{"name": "p", "tensor_index": 0}], "outputs": [{"name": "q", "tensor_index": 1}],
     "signature_key": "other", "subgraph_index": 1})";
  return fmt::format(
      R"({{"nn_dump": 1, "format": "tflite", "model": {{
    "version": 3,
    "operator_codes": [{{"deprecated_builtin_code": 19, "builtin_code": "RELU"}},
                       {{"deprecated_builtin_code": 59, "builtin_code": "NEG"}}],
    "subgraphs": [
     {{"tensors": [{{"shape": [1, 2], "buffer": 0, "name": "x"}},
                  {{"shape": [1, 2], "buffer": 0, "name": "a"}},
                  {{"shape": [1, 2], "buffer": 0, "name": "b"}},
                  {{"shape": [1, 2], "buffer": 0, "name": "y"}}],
      "inputs": [0], "outputs": [3],
      "operators": [{{"opcode_index": 0, "inputs": [0], "outputs": [1]}},
                    {{"opcode_index": 0, "inputs": [1], "outputs": [2]}},
                    {{"opcode_index": 1, "inputs": [2], "outputs": [3]}}], "name": "main"}}{}],
    "description": "by hand",
    "buffers": [{{}}, {{"data": "/wD+"}}, {{"data": "AQID"}}],
    "metadata": [{{"name": "binary", "buffer": 1}},
                 {{"name": "model_control_dependencies", "buffer": 2}}],
    "signature_defs": [
     {{"inputs": [{{"name": "in", "tensor_index": 0}}],
      "outputs": [{{"name": "out", "tensor_index": 3}}],
      "signature_key": "first", "subgraph_index": 0}}{}]}}}})",
      has_second ? second_graph : "", has_second ? second : "");
}

// An archive without files.
const std::string kArchive = "PK\5\6" + std::string(18, '\0');

void WriteModelFile(const TempDir& dir, bool has_second) {
  WriteText(dir / "m.json", ModelText(has_second));
  const ProgramResult r = RunProgram("nnconvert " + dir / "m.json " + dir / "plain.tflite");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  WriteText(dir / "m.tflite", ReadText(dir / "plain.tflite") + kArchive);
}

Json ModelOf(const std::string& path) {
  const ProgramResult r = RunProgram("nninspect --dump " + path);
  REQUIRE_MESSAGE(r.code == 0, r.err);
  return Json::parse(r.out)["model"];
}

TEST_CASE("nnconvert: metadata of rewritten TensorFlow Lite models") {
  const TempDir dir;
  WriteModelFile(dir, false);
  for (const std::string options :
       {"--rewrite", "--simplify", "--set-batch 3", "--preprocess x:scale=2",
        "--quantize int8 --calibrate seeded:2", "--rename-input x=in --rewrite"}) {
    CAPTURE(options);
    const ProgramResult r =
        RunProgram("nnconvert " + dir / "m.tflite " + dir / "o.tflite " + options);
    REQUIRE_MESSAGE(r.code == 0, r.err);
    CHECK(Contains(r.out, "\ndropped: metadata \"model_control_dependencies\"\n"));
    const std::string file = ReadText(dir / "o.tflite");
    CHECK(file.substr(file.size() - kArchive.size()) == kArchive);
    const Json model = ModelOf(dir / "o.tflite");
    CHECK(model["description"] == "by hand");
    REQUIRE(model["metadata"].size() == 1);
    CHECK(model["metadata"][0]["name"] == "binary");
    CHECK(model["buffers"][model["metadata"][0]["buffer"].get<size_t>()]["data"] == "/wD+");
    REQUIRE(model["signature_defs"].size() == 1);
    CHECK(model["signature_defs"][0]["signature_key"] == "first");
    CHECK(model["signature_defs"][0]["inputs"][0]["name"] == "in");
    CHECK(model["signature_defs"][0]["outputs"][0]["name"] == "out");
  }
}

TEST_CASE("nnconvert: a signature of another subgraph, and the way out") {
  const TempDir dir;
  WriteModelFile(dir, true);
  for (const std::string options : {"--rewrite", "--simplify", "--set-batch 3"}) {
    CAPTURE(options);
    const ProgramResult r =
        RunProgram("nnconvert " + dir / "m.tflite " + dir / "o.tflite " + options);
    CHECK(r.code == 3);
    CHECK(Contains(r.err,
                   "signature \"other\" runs subgraph 1, and a rewritten model has only the first "
                   "with its signatures; keep one of those with --set-metadata signature=KEY"));
    CHECK(!Exists(dir / "o.tflite"));
  }
  const ProgramResult r = RunProgram("nnconvert " + dir / "m.tflite " + dir / "o.tflite " +
                                     "--rewrite --set-metadata signature=first");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const Json model = ModelOf(dir / "o.tflite");
  CHECK(model["signature_defs"].size() == 1);
  CHECK(model["signature_defs"][0]["inputs"][0]["name"] == "in");
  const std::string file = ReadText(dir / "o.tflite");
  CHECK(file.substr(file.size() - kArchive.size()) == kArchive);
  // A copy keeps all.
  REQUIRE(RunProgram("nnconvert " + dir / "m.tflite " + dir / "c.tflite").code == 0);
  CHECK(ModelOf(dir / "c.tflite")["signature_defs"].size() == 2);
}

}  // namespace
}  // namespace nn::test::nnconvert_metadata_test
