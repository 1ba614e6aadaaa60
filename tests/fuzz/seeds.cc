#include "fuzz/seeds.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/file/file.h"
#include "formats/format.h"
#include "formats/program_text.h"
#include "formats/tensor_file.h"
#include "ir/text/text.h"
#include "rewrite/legalize.h"
#include "support/blobs.h"
#include "support/files.h"
#include "support/paths.h"

namespace nn::test {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = size_t{16} << 10;

// The paths of a folder's files of this extension, sorted.
std::vector<std::string> FilesOf(const std::string& folder, std::string_view extension) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.is_regular_file() && entry.path().string().ends_with(extension))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

// An ML Program in one file, and a neural network.
constexpr std::string_view kProgramFile = ".mil.mlmodel", kNetworkFile = ".mlmodel";

bool IsOfForm(const std::string& path, std::string_view extension) {
  return path.ends_with(extension) && !(extension == kNetworkFile && path.ends_with(kProgramFile));
}

ExportOptions OptionsFor(const std::string& path) {
  return {.path = path, .core_ml = path.ends_with(kProgramFile) ? "program" : ""};
}

// A graph of corpus/ as a model; nullopt if the format lacks one of its operators.
std::optional<FileImage> WriteGraph(const std::string& graph, const ExportOptions& options) {
  auto parsed = ParseGraph(ReadText(graph));
  REQUIRE_MESSAGE(parsed.has_value(), graph << ": " << parsed.error().message());
  const Format& format = *FormatOfPath(options.path);
  InterfaceAxes axes;
  const auto unsupported = Legalize(*parsed, TargetOf(format, options), &axes);
  if (!unsupported || !unsupported->empty()) return std::nullopt;
  auto image = format.writer.Write(*parsed, options);
  return image ? std::optional(*std::move(image)) : std::nullopt;
}

void AddBytes(std::string bytes, const std::string& as, std::vector<Seed>& seeds) {
  if (bytes.size() <= kMaxBytes) seeds.push_back({as, std::move(bytes)});
}

// The same model in another form, if it has one.
void AddConverted(const std::string& from, const std::string& extension, std::vector<Seed>& seeds) {
  const TempDir dir;
  const auto model = ReadModelFile(from);
  if (!model) return;
  const std::string to = dir / "m" + extension;
  if (extension == ".json") {
    if (WriteDump(*model, to)) AddBytes(ReadText(to), "m" + extension, seeds);
    return;
  }
  const ModelWriter& writer = model->format->writer;
  if (FormatOfPath(to) != model->format || !writer.WouldKeep(*model->model, OptionsFor(to))) return;
  const auto image = writer.Save(*model->model, OptionsFor(to));
  if (image && image->side_files.empty()) AddBytes(Joined(image->parts), "m" + extension, seeds);
}

std::vector<std::string> CorpusGraphs() {
  auto graphs = FilesOf(SourcePath("tests/fuzz/corpus"), ".graph");
  REQUIRE_FALSE(graphs.empty());
  return graphs;
}

// The models of corpus/: graphs in every format that has their operators, and dumps, which are of
// one format.
std::vector<std::string> WriteCorpus(const TempDir& dir) {
  std::vector<std::string> files;
  int n = 0;
  for (const std::string& graph : CorpusGraphs())
    for (const std::string_view form : {std::string_view(".onnx"), std::string_view(".tflite"),
                                        kNetworkFile, kProgramFile, std::string_view(".nnapi")}) {
      const std::string path = dir / std::to_string(n++) + std::string(form);
      const auto image = WriteGraph(graph, OptionsFor(path));
      if (image && image->side_files.empty() && WriteFile(path, image->parts))
        files.push_back(path);
    }
  for (std::string& dump : FilesOf(SourcePath("tests/fuzz/corpus"), ".json"))
    files.push_back(std::move(dump));
  return files;
}

std::vector<Seed> InForm(const std::vector<std::string>& files, const std::string& extension) {
  std::vector<Seed> seeds;
  for (const std::string& file : files) {
    if (IsOfForm(file, extension))
      AddBytes(ReadText(file), "m" + extension, seeds);
    else
      AddConverted(file, extension, seeds);
  }
  REQUIRE_FALSE(seeds.empty());
  return seeds;
}

// A package of the corpus; nullopt if ML Programs lack an operator of the graph.
std::optional<FolderSeed> PackageOf(const std::string& graph) {
  FolderSeed seed{"m.mlpackage", {}};
  const auto image = WriteGraph(graph, ExportOptions{seed.name});
  if (!image || image->size() > kMaxBytes) return std::nullopt;
  for (const SideFile& file : image->side_files) seed.files[file.name] = Joined(file.parts);
  return seed;
}

// The compiled model of a package; nullopt if its program has no text form.
std::optional<FolderSeed> CompiledOf(const FolderSeed& package) {
  const TempDir dir;
  WriteFolder(dir / package.name, package.files);
  const auto text = ProgramText(ReadOrFail(dir / package.name));
  if (!text) return std::nullopt;
  constexpr std::string_view kWeights = "weights/weight.bin";
  FolderSeed seed{"m.mlmodelc", {{"model.mil", *text}}};
  for (const auto& [name, bytes] : package.files)
    if (name.ends_with(kWeights)) seed.files[std::string(kWeights)] = bytes;
  return seed;
}

// The inputs of a folder's first set; none if one of them cannot be read.
std::vector<Tensor> InputsOf(const fs::path& folder, const Graph& graph) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const fs::path path = folder / "test_data_set_0" / fmt::format("input_{}.pb", i);
    auto tensor = ReadTensorFile(path, graph.inputs()[i].value->type());
    if (!tensor) return {};
    inputs.push_back(*std::move(tensor));
  }
  return inputs;
}

}  // namespace

std::vector<Seed> Seeds(const std::string& extension) {
  std::vector<std::string> files;
  for (const std::string& file : FilesOf(SourcePath("tests/cases"), ""))
    if (FormatOfPath(file) != nullptr) files.push_back(file);
  const TempDir dir;
  for (std::string& file : WriteCorpus(dir)) files.push_back(std::move(file));
  return InForm(files, extension);
}

std::vector<Seed> CorpusSeeds(const std::string& extension) {
  const TempDir dir;
  return InForm(WriteCorpus(dir), extension);
}

const std::vector<FolderSeed>& PackageSeeds() {
  static const auto all = [] {
    std::vector<FolderSeed> seeds;
    for (const std::string& graph : CorpusGraphs())
      if (auto seed = PackageOf(graph)) seeds.push_back(*std::move(seed));
    return seeds;
  }();
  return all;
}

const std::vector<FolderSeed>& CompiledSeeds() {
  static const auto all = [] {
    std::vector<FolderSeed> seeds;
    for (const FolderSeed& package : PackageSeeds())
      if (auto seed = CompiledOf(package)) seeds.push_back(*std::move(seed));
    return seeds;
  }();
  return all;
}

std::vector<Seed> PackageDumps() {
  std::vector<Seed> seeds;
  for (const FolderSeed& package : PackageSeeds()) {
    const TempDir dir;
    WriteFolder(dir / package.name, package.files);
    REQUIRE(WriteDump(ReadOrFail(dir / package.name), dir / "m.json").has_value());
    seeds.push_back({"m.json", ReadText(dir / "m.json")});
  }
  return seeds;
}

std::vector<Seed> InstalledOnnxSeeds() {
  const char* variable = std::getenv("NN_ONNX_TESTDATA");
  const fs::path root = variable != nullptr ? variable : "/usr/share/libonnx-testdata/data";
  std::vector<Seed> seeds;
  for (const std::string& file : FilesOf((root / "node").string(), "/model.onnx")) {
    std::vector<Seed> one;
    AddBytes(ReadText(file), "m.onnx", one);
    if (one.empty()) continue;
    if (const auto graph = ReadGraph(file))
      one[0].inputs = InputsOf(fs::path(file).parent_path(), *graph);
    seeds.push_back(std::move(one[0]));
  }
  return seeds;
}

}  // namespace nn::test
