#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/file/file.h"
#include "formats/common/describe/dump.h"
#include "formats/common/known_inputs.h"
#include "formats/coreml/coreml.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "formats/holdings.h"
#include "formats/nnapi/nnapi.h"
#include "formats/onnx/onnx.h"
#include "formats/program_text.h"
#include "formats/recognize.h"
#include "formats/tflite/tflite.h"
#include "ops/control/region.h"
#include "passes/core/ports.h"

namespace nn {

std::span<const Format> Formats() {
  static const std::array formats = {onnx::OnnxFormat(), tflite::TfliteFormat(),
                                     coreml::CoremlFormat(), nnapi::NnapiFormat()};
  return formats;
}

const Target& TargetOf(const Format& format, const ExportOptions& options) {
  const Target* const chosen = format.writer.TargetFor(options);
  return chosen == nullptr ? *format.target : *chosen;
}

const Target& OutputKind::target() const {
  return TargetOf(*format, options);
}

std::span<const OutputKind> OutputKinds() {
  static const std::vector<OutputKind> kinds = [] {
    std::vector<OutputKind> list;
    for (const Format& f : Formats())
      list.push_back({f.name, f.label, &f, {.path = "m" + std::string(f.extensions[0])}});
    list.push_back({"mil", "ML Program", FindFormat("coreml"), coreml::OptionsOfProgram()});
    return list;
  }();
  return kinds;
}

Result<ReadModel> WithFunction(ReadModel read, const std::string& function) {
  if (function.empty()) return read;
  const ModelEditor& editor = read.format->editor;
  const std::vector<std::string> functions = editor.FunctionsOf(*read.model);
  if (functions.empty())
    return UsageError("--function {}: the model has no functions to choose from", function);
  if (std::ranges::find(functions, function) == functions.end())
    return UsageError("--function {}: the model has no such function, but {}", function,
                      fmt::join(functions, ", "));
  read.model = editor.WithFunction(*read.model, function);
  return read;
}

std::vector<Holding> HoldingsOf(const ReadModel& model) {
  return model.format->describer.HoldingsOf(*model.model);
}

Result<std::string> ProgramText(const ReadModel& model) {
  if (model.format->name != coreml::CoremlFormat().name)
    return UnsupportedError("{} has no text form of programs", model.format->label);
  return coreml::ProgramText(*model.model);
}

const Format* FindFormat(std::string_view name) {
  for (const Format& f : Formats())
    if (f.name == name) return &f;
  return nullptr;
}

const Format* FormatOfPath(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const Format* best = nullptr;
  size_t length = 0;
  for (const Format& f : Formats())
    for (const std::string_view e : f.extensions)
      if (path.size() > e.size() && path.ends_with(e) && e.size() > length) {
        best = &f;
        length = e.size();
      }
  return best;
}

namespace {

// The format of a folder that is a model; nullptr if it is not one.
const Format* FormatOfFolder(const std::string& path) {
  const Format* format = FormatOfPath(path);
  if (format != nullptr && format->reader.HasFolders()) return format;
  for (const Format& f : Formats())
    if (f.reader.IsModelFolder(path)) return &f;
  return nullptr;
}

bool IsModelFile(const std::string& path) {
  if (FormatOfPath(path) != nullptr) return true;
  const auto file = ReadFile(path);
  if (!file || file->empty()) return false;
  return IsDump(file->bytes()) || std::ranges::any_of(Formats(), [&](const Format& f) {
           return f.reader.LikenessOf(file->bytes()) >= Likeness::kLikely;
         });
}

// `format`: FormatOfFolder().
Result<ReadModel> ReadModelFolder(const Format* format, const std::string& path,
                                  const ReadLimits& limits) {
  if (format == nullptr) {
    if (const auto what = KnownNonModelFolder(path); !what.empty())
      return ParseError("{}: this is {}", path, what);
    return IoError("{}: is a folder, but not an .mlpackage model", path);
  }
  auto model = format->reader.ReadFolder(path, limits);
  if (!model) return tl::unexpected(model.error().In(path));
  return ReadModel{format, *std::move(model)};
}

}  // namespace

bool IsModel(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error) && FormatOfFolder(path) != nullptr) return true;
  if (coreml::IsCompiledModel(path)) return std::filesystem::exists(path, error);
  return std::filesystem::is_regular_file(path, error) && IsModelFile(path);
}

Result<ReadModel> ReadModelFile(const std::string& path, const ReadLimits& limits) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  const Format* const format = is_folder ? FormatOfFolder(path) : nullptr;
  if (format == nullptr && coreml::IsCompiledModel(path) && std::filesystem::exists(path, error))
    return UnsupportedError(
        "{}: compiled Core ML models have no published format, apart from folders of ML Programs "
        "with their model.mil; use the original .mlmodel or .mlpackage",
        path);
  if (is_folder) return ReadModelFolder(format, path, limits);
  NN_ASSIGN(const Blob file, ReadFile(path, limits.max_file_bytes, limits.max_piped_bytes));
  return ReadModelBytes(file, path, limits);
}

Result<ReadModel> ReadModelBytes(const Blob& file, const std::string& path,
                                 const ReadLimits& limits) {
  if (file.empty()) return ParseError("{}: the file is empty", path);
  if (IsDump(file.bytes())) {
    auto read = ReadDump(file, path, limits);
    if (!read) return tl::unexpected(read.error().In(path));
    return read;
  }
  NN_ASSIGN(const Format* const format, RecognizeFormat(file.bytes(), path));
  auto model = format->reader.Read(file, path, limits);
  if (!model) return tl::unexpected(model.error().In(path));
  return ReadModel{format, *std::move(model)};
}

Result<Graph> ReadGraph(const std::string& path, const ReadLimits& limits) {
  NN_ASSIGN(const ReadModel read, ReadModelFile(path, limits));
  return ImportGraph(read, path);
}

namespace {

Result<ImportedModel> CompleteModel(Result<ImportedModel> imported, const std::string& path) {
  if (!imported) return tl::unexpected(imported.error().In(path));
  if (!imported->unsupported.empty())
    return tl::unexpected(
        UnsupportedNodesError("this suite's graph", imported->unsupported).In(path));
  return imported;
}

Result<Graph> CompleteGraph(Result<ImportedModel> imported, const std::string& path) {
  NN_ASSIGN(ImportedModel complete, CompleteModel(std::move(imported), path));
  return std::move(complete.graph);
}

}  // namespace

Result<Graph> ImportGraph(const ReadModel& read, const std::string& path) {
  return CompleteGraph(read.format->importer.Import(*read.model), path);
}

namespace {

// The symbols of the inputs that these shapes and the batch set.
SymbolSizes SymbolsOf(const Graph& graph, std::span<const std::string> names,
                      const InputShapes& shapes, std::optional<int64_t> batch) {
  SymbolSizes out;
  for (size_t i = 0; i < names.size(); ++i) {
    const Type& type = graph.inputs()[i].value->type();
    const auto given = shapes.find(names[i]);
    if (given == shapes.end() || !type.ranked() || given->second.size() != type.dims->size())
      continue;
    for (size_t k = 0; k < given->second.size(); ++k)
      if (const auto symbol = (*type.dims)[k].symbol(); symbol && given->second[k] >= 0)
        out.emplace(*symbol, given->second[k]);
  }
  if (batch && *batch >= 0)
    for (const std::string& symbol : BatchSymbols(graph)) out.emplace(symbol, *batch);
  return out;
}

// Names the inputs without a name after the positions that they had before the constants went.
void NameByPosition(Graph& graph, std::span<const std::string> names,
                    const std::map<size_t, Tensor>& constants) {
  size_t at = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (constants.contains(i)) continue;
    if (graph.inputs()[at].name.empty()) graph.RenameInput(at, names[i]);
    ++at;
  }
}

}  // namespace

Result<ImportedModel> ImportWith(const ReadModel& read, const InputSettings& settings,
                                 bool as_float) {
  const auto import = [&](const KnownInputs& known) {
    return read.format->importer.Import(*read.model, known, as_float);
  };
  KnownInputs known{.lengths = settings.lengths, .states = settings.states};
  auto imported = import(known);
  if (!imported || settings.empty()) return imported;
  const Graph& graph = imported->graph;
  std::vector<std::string> names = NamesOf(graph.inputs());
  NameUnnamed(names, "in");
  if (settings.constants) {
    NN_ASSIGN(known.constants, settings.constants(graph));
  }
  if (known.constants.empty() && imported->unsupported.empty() && !IsDecidedByRuns(graph))
    return imported;
  InputShapes shapes = settings.shapes;
  for (const auto& [i, tensor] : known.constants) shapes[names[i]] = tensor.dims();
  known.sizes = SymbolsOf(graph, names, shapes, settings.batch);
  if (known.sizes.empty() && known.constants.empty()) return imported;
  auto again = import(known);
  if (again && !known.constants.empty()) NameByPosition(again->graph, names, known.constants);
  return again;
}

PortKinds PortKindsOf(const ReadModel& read) {
  return read.format->describer.PortKindsOf(*read.model);
}

Result<Graph> ImportGraph(const ReadModel& read, const std::string& path,
                          const InputSettings& settings) {
  return CompleteGraph(ImportWith(read, settings), path);
}

Result<ImportedModel> ImportModel(const ReadModel& read, const std::string& path,
                                  const InputSettings& settings) {
  return CompleteModel(ImportWith(read, settings), path);
}

Result<Graph> ImportGraph(const ReadModel& read, const std::string& path,
                          const InputShapes& shapes) {
  return CompleteGraph(read.format->importer.ImportWithShapes(*read.model, shapes), path);
}

}  // namespace nn
