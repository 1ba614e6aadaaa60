// The test models of the ONNX project, if installed (Debian: libonnx-testdata). Each is a folder
// with model.onnx and test_data_set_K/{input,output}_K.pb. Every model is run unchanged, and again
// after it has been written and read back, in each operator set that can express it.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "exec/program.h"
#include "formats/format.h"
#include "formats/test_set.h"
#include "ops/math/random.h"
#include "passes/core/passes.h"
#include "support/files.h"
#include "support/run_graph.h"
#include "support/sanitizer.h"
#include "support/skip.h"
#include "tensorio/compare.h"

namespace nn::test::onnx_test {
namespace {

namespace fs = std::filesystem;

// The tolerance of ONNX's own runner.
constexpr Tolerance kTolerance{1e-7, 1e-3, 0};

// The names of a folder's sub-folders, sorted; empty if there is no such folder.
std::vector<std::string> Folders(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (entry.is_directory(error)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Other implementations draw different numbers.
bool IsRandomGraph(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), IsRandom);
}

// Whether and how a model is written before it runs.
struct Writing {
  bool written = false;
  int64_t opset = 0;  // 0: the default
};

// The graph after it has been written as ONNX and read again.
Result<Graph> WrittenAndRead(const Graph& source, int64_t opset) {
  const Format& onnx = *FindFormat("onnx");
  Graph graph = source.Clone();
  ExportOptions options;
  options.opset = opset;
  NN_RETURN_IF_ERROR(onnx.writer.Lower(graph, options, nullptr));
  NN_ASSIGN(const auto unsupported, Legalize(graph, *onnx.target));
  if (!unsupported.empty()) return UnsupportedError("{}", unsupported.front().reason);
  NN_ASSIGN(const FileImage image, onnx.writer.Write(graph, options));
  std::vector<std::byte> bytes;
  for (const Blob& part : image.parts)
    bytes.insert(bytes.end(), part.data(), part.data() + part.size());
  NN_ASSIGN(const auto model, onnx.reader.Read(Blob::CopyOf(bytes), "model.onnx", ReadLimits{}));
  NN_ASSIGN(const ModelFrame frame, onnx.writer.FrameOf(*model));
  if (opset != 0 && frame.opset != opset) return ModelError("has operator set {}", frame.opset);
  NN_ASSIGN(ImportedModel imported, onnx.importer.Import(*model));
  if (!imported.unsupported.empty()) return ModelError("{}", imported.unsupported.front().reason);
  return std::move(imported.graph);
}

struct Counts {
  int passed = 0, failed = 0, unsupported = 0;
  int random = 0;  // of those that passed: types and shapes were compared, not random numbers

  void Add(const std::string& name, const Status& status) {
    if (status) {
      ++passed;
    } else if (status.error().code() == ErrorCode::kUnsupported) {
      ++unsupported;
    } else {
      ++failed;
      MESSAGE(name << ": " << status.error().message());
    }
  }
  std::string Text() const {
    return fmt::format("{} passed, {} failed, {} unsupported ({} of those that passed are random)",
                       passed, failed, unsupported, random);
  }
};

// Runs the model of a test set, or what is read after it has been written.
Status RunSet(const InputImporter& import, const PortKinds& kinds, const fs::path& folder,
              const Writing& writing, bool& random) {
  NN_ASSIGN(const TestSet set, FindTestSet(folder, kinds));
  NN_ASSIGN(ModelForSet model, ImportForSet(set, kinds, import));
  Graph& graph = model.graph;
  if (writing.written) {
    NN_ASSIGN(graph, WrittenAndRead(graph, writing.opset));
  }
  NN_ASSIGN(const auto given, ReadInputs(model));
  std::vector<Tensor> inputs;
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) return ModelError("input {} is not in the set", i);
    shapes[graph.inputs()[i].name] = given[i]->dims();
    inputs.push_back(*given[i]);
  }
  NN_RETURN_IF_ERROR(BindInputShapes(graph, shapes));
  NN_ASSIGN(Program program, Program::Compile(graph, ProgramOptions{}));
  NN_ASSIGN(const auto outputs, program.Run(inputs));
  NN_ASSIGN(const MatchedOutputs expected, MatchOutputs(set, kinds, graph));
  if (set.outputs.empty()) return ModelError("no outputs in the set");
  for (const auto& [name, want, got] : expected.lengths)
    if (want != got) return ModelError("{} has {} elements, not {}", name, got, want);
  random = IsRandomGraph(graph);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!expected.arrays[i]) continue;
    const Tensor& want = *expected.arrays[i];
    if (random) {
      if (want.dtype() == outputs[i].dtype() && want.dims() == outputs[i].dims()) continue;
      return ModelError("output {} has another type or shape", i);
    }
    const Comparison c = Compare(want, outputs[i], kTolerance);
    if (!c.agrees) return ModelError("output {}: {}", i, Describe(c, want));
  }
  return {};
}

// Models with loops that a run decides about are written with constants for the inputs that decide,
// because not all operator sets have what their bodies need.
Status RunSets(const fs::path& directory, const Writing& writing, bool& random) {
  const std::string path = directory / "model.onnx";
  NN_ASSIGN(const ReadModel read, ReadModelFile(path));
  const InputImporter import = [&](const InputSettings& settings) -> Result<ImportedModel> {
    NN_ASSIGN(ImportedModel imported, ImportModel(read, path, settings));
    if (writing.written && !settings.constants && !WhyOpen(imported.graph).empty())
      return UnsupportedError("{}", WhyOpen(imported.graph));
    return imported;
  };
  const PortKinds kinds = PortKindsOf(read);
  for (const std::string& set : Folders(directory))
    NN_RETURN_IF_ERROR(RunSet(import, kinds, directory / set, writing, random));
  return {};
}

TEST_CASE("onnx: the project's own test models") {
  // Counts with version 1.12 of the data. Passes may not become fewer, failures not more.
  struct Row {
    const char* folder;
    int passed;
    int written;
    int failed;
  };
  const char* variable = std::getenv("NN_ONNX_TESTDATA");
  const fs::path root = variable != nullptr ? variable : "/usr/share/libonnx-testdata/data";
  if (!fs::exists(root)) {
    Skip(root.string() + " is not there (Debian: libonnx-testdata)");
    return;
  }
  // The six failures are flaws of the data: bfloat16 tensors stored as uint16, second operands of
  // CastLike of another shape than their models declare, and results of Adam with an epsilon of
  // 0.01 that the model does not have.
  for (const Row& row : {Row{"node", 926, 922, 6}, Row{"simple", 21, 21, 0},
                         Row{"pytorch-operator", 35, 35, 0}, Row{"pytorch-converted", 82, 82, 0}}) {
    Counts run, written;
    for (const std::string& name : Folders(root / row.folder)) {
      const fs::path directory = root / row.folder / name;
      bool random = false;
      const Status status = RunSets(directory, {}, random);
      run.Add(name, status);
      if (!status) continue;
      run.random += random;
      written.Add(name + ", written", RunSets(directory, {true}, random));
    }
    MESSAGE(std::string(row.folder)
            << ": " << run.Text() << "; written and read: " << written.Text());
    CHECK(run.failed <= row.failed);
    CHECK(run.passed >= row.passed);
    CHECK(written.failed == 0);
    CHECK(written.passed >= row.written);
  }
}

TEST_CASE("onnx: the node tests in every operator set") {
  // Of the models that pass unchanged, how many pass in each operator set from 7 on, with version
  // 1.12 of the data; the others are refused.
  constexpr int kPassed[] = {529, 555, 777, 820, 887, 895, 914, 915, 915, 918,
                             921, 922, 922, 922, 922, 922, 922, 922, 922, 922};
  const char* variable = std::getenv("NN_ONNX_TESTDATA");
  const fs::path root = variable != nullptr ? variable : "/usr/share/libonnx-testdata/data";
  if (!fs::exists(root)) {
    Skip(root.string() + " is not there (Debian: libonnx-testdata)");
    return;
  }
  std::vector<fs::path> models;
  for (const std::string& name : Folders(root / "node")) {
    bool random = false;
    if (RunSets(root / "node" / name, {}, random)) models.push_back(root / "node" / name);
  }
  // With a sanitizer, one operator set in five: 18,000 conversions take it six minutes.
  constexpr size_t kStep = NN_ADDRESS_SANITIZER ? 5 : 1;
  std::string text;
  for (size_t i = 0; i < std::size(kPassed); i += kStep) {
    const int64_t opset = 7 + static_cast<int64_t>(i);
    Counts counts;
    for (const fs::path& model : models) {
      bool random = false;
      const Status status = RunSets(model, {true, opset}, random);
      counts.random += status && random ? 1 : 0;
      counts.Add(fmt::format("{}, operator set {}", model.filename().string(), opset), status);
    }
    text += fmt::format("\n{}: {}", opset, counts.Text());
    CHECK(counts.failed == 0);
    CHECK(counts.passed >= kPassed[i]);
  }
  MESSAGE("operator sets: " << text);
}

}  // namespace
}  // namespace nn::test::onnx_test
