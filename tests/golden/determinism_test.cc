// Whole models give the same bits by the reference evaluation and, on every SIMD target, with 1, 2
// and 7 threads, fused and not: those of golden/ and of graphs/, whose digests are stored, and
// those of the folder in the environment variable NN_MODELS (NAME.onnx and the like, inputs in
// NAME/case0/input_K.npy, or seeded). Of these, models with more than NN_MODELS_MEGAMACS million
// multiply-adds (300) are skipped, because the reference evaluation is slow.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "base/file/file.h"
#include "base/json/json.h"
#include "exec/program.h"
#include "formats/format.h"
#include "ir/seeded.h"
#include "ir/text/text.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/run_graph.h"
#include "support/skip.h"
#include "tensorio/digest.h"
#include "tensorio/npy.h"

namespace nn::test::determinism_test {
namespace {

namespace fs = std::filesystem;

const std::string kGolden = SourcePath("golden/");
const std::string kGraphs = SourcePath("tests/golden/graphs/");

struct GraphRow {
  const char* name;
  std::string digest;  // of all outputs, for inputs seeded with 1
  std::map<std::string, int64_t> sizes = {};
};

const GraphRow kGraphRows[] = {
    {"attention", "sha256:74bded2eabfb142d9d164b5113eaf0b67a4f293ff835d0a6ceab0e53216cdf17"},
    {"cache", "sha256:1ff2abee1e8a4ff514c15bc342833dbcab2c23426c7b66c1a7d4f24a32519d43"},
    {"characters", "sha256:7f52469604f8348d575d3c6b8b795fb9b2cc91a103812758c471fef400108dc6"},
    {"decoder",
     "sha256:8a70b6c12f3611ad80315ffaeeddef9e60bae8e35ebac2c15402de778913f1a9",
     {{"tokens", 3}, {"past", 5}}},
    {"mobile", "sha256:ada4dabb99394370e62ab2acddbd6053ee7890abd7a4672bcfc0439ca41722e8"},
    {"shuffle", "sha256:204d75560a39e161089543eac2511132a617f5d85f7a657aa2e790cfc37fff11"},
    {"ssd", "sha256:ec2991382471729c6776ca4ec101a51a08e4fb20a3368a6d151764477d131c01"},
    {"tagger", "sha256:6a76421787196fd31621cea4e0dda5095ad22b057a40d4b242e164dfbe9466ad"},
    {"unet", "sha256:471b54f9ef5ac3d9166b5f9365fa97eb5a30c726422ad7bf1b310d15eecd2eb5"},
    {"wave", "sha256:1b8e017aa64c505ca558cd4cf4d12e3aedec37fcdbf2adfabd9aebde53c40acd"},
    {"yolo", "sha256:e6fd513116bd32c5af5891b4517a36441185ca4f7609f9db2b9e4a51d8b8808c"},
};

using Digests = std::vector<std::string>;

// The digest of all outputs, then that of each; the error's message alone if there are none.
Digests DigestsOf(const Graph& graph, const std::vector<Tensor>& inputs,
                  const ProgramOptions& options) {
  auto program = Program::Compile(graph, options);
  if (!program) return {program.error().message()};
  const auto outputs = program->Run(inputs);
  if (!outputs) return {outputs.error().message()};
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < outputs->size(); ++i)
    named.push_back({graph.outputs()[i].name, (*outputs)[i]});
  Digests digests = {Digest(named)};
  for (const NamedTensor& output : named) digests.push_back(Digest(std::span(&output, 1)));
  return digests;
}

// One line per model and one column per target: how many runs had the bits of the reference
// evaluation.
class Matrix {
 public:
  Matrix() : targets_(SimdTargets()) { Line({"model", "outputs"}, targets_); }

  // Checks the model and returns the digests of the reference evaluation.
  Digests Add(const std::string& name, const Graph& graph, const std::vector<Tensor>& inputs) {
    CAPTURE(name);
    ProgramOptions reference;
    reference.backend = Backend::kReference;
    const Digests expected = DigestsOf(graph, inputs, reference);
    REQUIRE_MESSAGE(expected.size() == graph.outputs().size() + 1, expected.front());
    std::vector<std::string> cells;
    for (const std::string& target : targets_) {
      CAPTURE(target);
      REQUIRE(UseSimdTarget(target).has_value());
      int equal = 0, runs = 0;
      for (const size_t threads : {1, 2, 7})
        for (const bool fuse : {true, false}) {
          CAPTURE(threads);
          CAPTURE(fuse);
          ProgramOptions options;
          options.threads = threads;
          options.fuse = fuse;
          const Digests got = DigestsOf(graph, inputs, options);
          CHECK(got == expected);
          equal += got == expected ? 1 : 0;
          ++runs;
        }
      cells.push_back(fmt::format("{}/{}", equal, runs));
    }
    REQUIRE(UseSimdTarget("").has_value());
    Line({name, std::to_string(graph.outputs().size())}, cells);
    return expected;
  }

 private:
  static void Line(const std::vector<std::string>& head, const std::vector<std::string>& cells) {
    std::cout << fmt::format("{:<26}{:>8}", head[0], head[1]);
    for (const std::string& cell : cells) std::cout << fmt::format("{:>11}", cell);
    std::cout << std::endl;
  }

  std::vector<std::string> targets_;
};

std::vector<Tensor> Seeded(const Graph& graph, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& type = graph.inputs()[i].value->type();
    auto t = SeededTensor(type.dtype, type.const_dims().value(), seed, i);
    REQUIRE_MESSAGE(t.has_value(), t.error().message());
    inputs.push_back(*std::move(t));
  }
  return inputs;
}

TEST_CASE("determinism: the models of golden/ have the digests of the manifest everywhere") {
  const Json manifest = Json::parse(ReadText(kGolden + "manifest.json"));
  REQUIRE(manifest["models"].size() >= 1);
  Matrix matrix;
  for (const Json& model : manifest["models"])
    for (const Json& run : model["runs"]) {
      const std::string file = model["file"];
      CAPTURE(file);
      auto graph = ReadGraph(kGolden + file);
      REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
      NamePorts(*graph);
      std::map<std::string, std::vector<int64_t>> shapes;
      for (const Json& input : run["inputs"])
        shapes[input["name"]] = input["shape"].get<std::vector<int64_t>>();
      REQUIRE(BindInputShapes(*graph, shapes).has_value());
      const auto seed = run["seed"].get<uint64_t>();
      const Digests got =
          matrix.Add(fmt::format("{} seed {}", file, seed), *graph, Seeded(*graph, seed));
      REQUIRE(run["outputs"].size() + 1 == got.size());
      for (size_t i = 0; i + 1 < got.size(); ++i) {
        CHECK(run["outputs"][i]["name"] == graph->outputs()[i].name);
        CHECK(run["outputs"][i]["digest"] == got[i + 1]);
      }
    }
}

// Outputs that are empty or all NaN would prove little.
bool HasNumbers(const Graph& graph, const std::vector<Tensor>& inputs) {
  auto program = Program::Compile(graph, {});
  REQUIRE(program.has_value());
  const auto outputs = program->Run(inputs);
  REQUIRE(outputs.has_value());
  for (const Tensor& t : *outputs) {
    if (t.elements() == 0) return false;
    for (int64_t i = 0; i < t.elements(); ++i)
      if (!std::isfinite(t.GetDouble(i))) return false;
  }
  return true;
}

TEST_CASE("determinism: graphs of every family have their digests everywhere") {
  Matrix matrix;
  for (const GraphRow& row : kGraphRows) {
    Graph graph = Parse(ReadText(kGraphs + row.name + ".graph"));
    REQUIRE(BindSymbols(graph, row.sizes).has_value());
    const std::vector<Tensor> inputs = InputsOf(graph, {});
    CAPTURE(std::string(row.name));
    CHECK(matrix.Add(row.name, graph, inputs).front() == row.digest);
    CHECK(HasNumbers(graph, inputs));
  }
}

// The inputs of a model of NN_MODELS; binds the shapes of the graph to theirs.
Result<std::vector<Tensor>> CaseInputs(const fs::path& model, Graph& graph) {
  fs::path folder = model;
  folder.replace_extension("");
  std::vector<Tensor> inputs;
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const fs::path file = folder / "case0" / fmt::format("input_{}.npy", i);
    if (i == 0 && !fs::exists(file)) {
      for (const Port& p : graph.inputs())
        if (!p.value->type().const_dims()) return UsageError("no inputs for open shapes");
      return Seeded(graph, 1);
    }
    NN_ASSIGN(const Blob blob, ReadFile(file.string()));
    NN_ASSIGN(Tensor t, ReadNpy(blob));
    shapes[graph.inputs()[i].name] = t.dims();
    inputs.push_back(std::move(t));
  }
  NN_RETURN_IF_ERROR(BindInputShapes(graph, shapes));
  return inputs;
}

// Why the model is not run; nullopt if it is.
std::optional<std::string> WhySkipped(const fs::path& path, int64_t limit, Matrix& matrix) {
  auto graph = ReadGraph(path.string());
  if (!graph) return graph.error().message();
  NamePorts(*graph);
  const auto inputs = CaseInputs(path, *graph);
  if (!inputs) return inputs.error().message();
  const auto program = Program::Compile(*graph, {});
  if (!program) return program.error().message();
  int64_t work = 0;
  for (const StepInfo& step : program->steps()) work += step.multiply_adds;
  if (work / 1000000 > limit)
    return fmt::format("{} million multiply-adds, the limit is {}", work / 1000000, limit);
  matrix.Add(path.filename().string(), *graph, *inputs);
  return std::nullopt;
}

TEST_CASE("determinism: the models of NN_MODELS") {
  const char* folder = std::getenv("NN_MODELS");
  if (folder == nullptr) return Skip("NN_MODELS names no folder of models");
  const char* limit = std::getenv("NN_MODELS_MEGAMACS");
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (FormatOfPath(entry.path().string()) != nullptr) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  size_t ran = 0;
  std::string skipped;
  Matrix matrix;
  for (const fs::path& path : paths) {
    const auto why = WhySkipped(path, limit == nullptr ? 300 : std::atoll(limit), matrix);
    ran += why ? 0 : 1;
    if (why) skipped += fmt::format("skipped {}: {}\n", path.filename().string(), *why);
  }
  std::cout << skipped << fmt::format("{} models run, {} skipped\n", ran, paths.size() - ran);
  CHECK(ran > 0);
}

}  // namespace
}  // namespace nn::test::determinism_test
