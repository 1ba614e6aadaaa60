#include "fuzz/seeds.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file/file.h"
#include "formats/format.h"
#include "formats/tensor_file.h"
#include "ir/text/text.h"
#include "rewrite/legalize.h"
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

// Writes a graph of corpus/ as a model; false if the format lacks one of its operators.
bool WriteGraph(const std::string& graph, const std::string& path) {
  auto parsed = ParseGraph(ReadText(graph));
  REQUIRE_MESSAGE(parsed.has_value(), graph << ": " << parsed.error().message());
  const Format& format = *FormatOfPath(path);
  InterfaceAxes axes;
  const auto unsupported = Legalize(*parsed, *format.target, &axes);
  if (!unsupported || !unsupported->empty()) return false;
  const auto image = format.writer.Write(*parsed, ExportOptions{path});
  return image && image->side_files.empty() && WriteFile(path, image->parts);
}

void AddFile(const std::string& path, const std::string& as, std::vector<Seed>& seeds) {
  std::string bytes = ReadText(path);
  if (bytes.size() <= kMaxBytes) seeds.push_back({as, std::move(bytes)});
}

// The same model in another form, if it has one.
void AddConverted(const std::string& from, const std::string& extension, std::vector<Seed>& seeds) {
  const TempDir dir;
  const auto model = ReadModelFile(from);
  if (!model) return;
  const std::string to = dir / "m" + extension;
  if (extension == ".json") {
    if (WriteDump(*model, to)) AddFile(to, "m" + extension, seeds);
    return;
  }
  const Format* format = FormatOfPath(to);
  if (format != model->format) return;
  const auto image = format->writer.Save(*model->model, ExportOptions{to});
  if (!image || !image->side_files.empty()) return;
  std::string bytes;
  for (const Blob& b : image->parts)
    bytes.append(reinterpret_cast<const char*>(b.data()), b.size());
  if (bytes.size() <= kMaxBytes) seeds.push_back({"m" + extension, std::move(bytes)});
}

// The models of corpus/: graphs in every format that has their operators, and dumps, which are of
// one format.
std::vector<std::string> WriteCorpus(const TempDir& dir) {
  std::vector<std::string> files;
  int n = 0;
  for (const std::string& graph : FilesOf(SourcePath("tests/fuzz/corpus"), ".graph"))
    for (const char* format : {".onnx", ".tflite", ".mlmodel", ".nnapi"}) {
      const std::string path = dir / std::to_string(n++) + format;
      if (WriteGraph(graph, path)) files.push_back(path);
    }
  REQUIRE(n > 0);
  for (std::string& dump : FilesOf(SourcePath("tests/fuzz/corpus"), ".json"))
    files.push_back(std::move(dump));
  return files;
}

std::vector<Seed> InForm(const std::vector<std::string>& files, const std::string& extension) {
  std::vector<Seed> seeds;
  for (const std::string& file : files) {
    if (file.ends_with(extension))
      AddFile(file, "m" + extension, seeds);
    else
      AddConverted(file, extension, seeds);
  }
  REQUIRE_FALSE(seeds.empty());
  return seeds;
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

std::vector<Seed> InstalledOnnxSeeds() {
  const char* variable = std::getenv("NN_ONNX_TESTDATA");
  const fs::path root = variable != nullptr ? variable : "/usr/share/libonnx-testdata/data";
  std::vector<Seed> seeds;
  for (const std::string& file : FilesOf((root / "node").string(), "/model.onnx")) {
    std::vector<Seed> one;
    AddFile(file, "m.onnx", one);
    if (one.empty()) continue;
    if (const auto graph = ReadGraph(file))
      one[0].inputs = InputsOf(fs::path(file).parent_path(), *graph);
    seeds.push_back(std::move(one[0]));
  }
  return seeds;
}

}  // namespace nn::test
