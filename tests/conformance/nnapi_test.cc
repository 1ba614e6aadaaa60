// Test vectors of Android's NNAPI 1.0, one JSON object per line: a model in the .nnapi.json form
// with "examples", each with the contents of inputs and outputs, and their "tolerance". They are
// not part of this repository: NN_NNAPI_VECTORS is their folder; without it, nothing is run.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/json/json.h"
#include "exec/program.h"
#include "formats/format.h"
#include "support/run_graph.h"
#include "support/skip.h"

namespace nn::test::nnapi_test {
namespace {

struct Counts {
  int passed = 0;
  int failed = 0;
  std::map<std::string, int> unsupported;  // by operation

  int unsupported_total() const {
    int n = 0;
    for (const auto& [op, count] : unsupported) n += count;
    return n;
  }
};

std::vector<std::string> Lines(const std::string& file) {
  const char* folder = std::getenv("NN_NNAPI_VECTORS");
  if (folder == nullptr) return {};
  std::ifstream in(std::string(folder) + "/" + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  REQUIRE_MESSAGE(!lines.empty(), file, " is missing or empty");
  return lines;
}

Result<ImportedModel> ImportLine(const std::string& line) {
  const Format* format = FindFormat("nnapi");
  const Blob blob = Blob::Copy(std::as_bytes(std::span(line)));
  NN_ASSIGN(const auto model, format->reader.Read(blob, "line.nnapi.json", {}));
  return format->importer.Import(*model);
}

std::vector<double> Numbers(const Json& list) {
  std::vector<double> out;
  for (const Json& v : list) out.push_back(v.get<double>());
  return out;
}

// The worst violation of the tolerance, as text; empty if there is none.
std::string Differs(const Tensor& got, const Json& want, const Json& tolerance) {
  const std::vector<double> expected = Numbers(want);
  if (got.elements() != static_cast<int64_t>(expected.size()))
    return std::to_string(got.elements()) + " elements, expected " +
           std::to_string(expected.size());
  const char* type = got.dtype() == DType::kF32  ? "TENSOR_FLOAT32"
                     : got.dtype() == DType::kU8 ? "TENSOR_QUANT8_ASYMM"
                                                 : "TENSOR_INT32";
  const Json limits = tolerance.value(type, Json::object());
  const double atol = limits.value("atol", 0.0);
  const double rtol = limits.value("rtol", 0.0);
  for (size_t i = 0; i < expected.size(); ++i) {
    const double v = got.GetDouble(static_cast<int64_t>(i));
    if (!(std::fabs(v - expected[i]) <= atol + rtol * std::fabs(expected[i])))
      return "element " + std::to_string(i) + ": " + std::to_string(v) + ", expected " +
             std::to_string(expected[i]);
  }
  return {};
}

// Why the graph cannot be run on the inputs; empty if it can.
std::string WhyNotRun(const Graph& graph, const std::vector<Tensor>& inputs) {
  ProgramOptions options;
  options.backend = Backend::kReference;
  auto program = Program::Compile(graph, options);
  if (!program) return program.error().message();
  const auto outputs = program->Run(inputs);
  return outputs ? std::string() : outputs.error().message();
}

std::vector<Tensor> ExampleInputs(const Graph& graph, const Json& example) {
  std::vector<std::vector<double>> inputs;
  for (const Json& v : example.at("inputs")) inputs.push_back(Numbers(v));
  return InputsOf(graph, inputs);
}

bool Agrees(const Graph& graph, const Json& example, const Json& tolerance) {
  const auto outputs = RunEverywhere(graph, ExampleInputs(graph, example));
  bool agrees = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Json& want = example.at("outputs").at(i);
    if (want.is_null()) continue;
    const std::string difference = Differs(outputs[i], want, tolerance);
    CAPTURE(i);
    CHECK(difference == "");
    agrees = agrees && difference.empty();
  }
  return agrees;
}

// A request may omit inputs (hasNoValue), here null: they become operands without a value.
Json WithoutOmitted(Json json) {
  const Json inputs = json.at("examples").at(0).at("inputs");
  for (size_t i = inputs.size(); i-- > 0;) {
    if (!inputs.at(i).is_null()) continue;
    const size_t operand = json.at("inputIndexes").at(i);
    json["operands"][operand]["lifetime"] = "NO_VALUE";
    json["inputIndexes"].erase(i);
    for (Json& example : json["examples"]) example["inputs"].erase(i);
  }
  return json;
}

void RunLine(const std::string& line, Counts& counts) {
  const Json json = WithoutOmitted(Json::parse(line));
  const std::string name = json.at("name");
  CAPTURE(name);
  const auto imported = ImportLine(json.dump());
  if (!imported) {
    FAIL_CHECK(imported.error().message());
    ++counts.failed;
    return;
  }
  if (!imported->unsupported.empty()) {
    ++counts.unsupported[imported->unsupported[0].source + ": " + imported->unsupported[0].reason];
    return;
  }
  bool passed = true;
  for (const Json& example : json.at("examples")) {
    const std::string why = WhyNotRun(imported->graph, ExampleInputs(imported->graph, example));
    if (!why.empty()) {
      ++counts.unsupported[why];
      return;
    }
  }
  for (const Json& example : json.at("examples"))
    passed = Agrees(imported->graph, example, json.at("tolerance")) && passed;
  ++(passed ? counts.passed : counts.failed);
}

// Without the vectors there is nothing to check.
bool SkipsWithoutVectors() {
  if (std::getenv("NN_NNAPI_VECTORS") != nullptr) return false;
  Skip("NN_NNAPI_VECTORS names no folder");
  return true;
}

void RunFile(const std::string& file) {
  if (SkipsWithoutVectors()) return;
  Counts counts;
  for (const std::string& line : Lines(file)) RunLine(line, counts);
  MESSAGE(file, ": ", counts.passed, " passed, ", counts.failed, " failed, ",
          counts.unsupported_total(), " unsupported");
  for (const auto& [what, count] : counts.unsupported) MESSAGE("  ", count, " ", what);
  CHECK(counts.failed == 0);
}

TEST_CASE("nnapi vectors: cases") {
  RunFile("cases.jsonl");
}
TEST_CASE("nnapi vectors: extra") {
  RunFile("extra.jsonl");
}

TEST_CASE("nnapi vectors: valid models are imported") {
  if (SkipsWithoutVectors()) return;
  Counts counts;
  for (const std::string& line : Lines("control.jsonl")) {
    const auto imported = ImportLine(line);
    CAPTURE(Json::parse(line).at("name").get<std::string>());
    if (!imported) {
      FAIL_CHECK(imported.error().message());
      ++counts.failed;
    } else if (imported->unsupported.empty()) {
      ++counts.passed;
    } else {
      ++counts
            .unsupported[imported->unsupported[0].source + ": " + imported->unsupported[0].reason];
    }
  }
  MESSAGE("control.jsonl: ", counts.passed, " passed, ", counts.failed, " failed, ",
          counts.unsupported_total(), " unsupported");
  CHECK(counts.failed == 0);
}

// The validator reports the broken rules; here, no model may cause harm.
TEST_CASE("nnapi vectors: invalid models are survived") {
  if (SkipsWithoutVectors()) return;
  int rejected = 0, taken = 0;
  for (const std::string& line : Lines("negative.jsonl")) ++(ImportLine(line) ? taken : rejected);
  MESSAGE("negative.jsonl: ", rejected, " refused by the import, ", taken, " left to the rules");
  CHECK(rejected + taken > 0);
}

}  // namespace
}  // namespace nn::test::nnapi_test
