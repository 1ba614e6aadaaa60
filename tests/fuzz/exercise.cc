#include "fuzz/exercise.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <set>

#include "base/text/text.h"
#include "convert/place/staged_model.h"
#include "convert/place/written.h"
#include "convert/verify/verify.h"
#include "formats/common/describe/dump.h"
#include "formats/common/describe/dump_writer.h"
#include "formats/common/edit/native_edit.h"
#include "formats/format.h"
#include "fuzz/run_model.h"
#include "ir/verify.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "rewrite/legalize.h"
#include "validators/runner.h"

namespace nn::test {
namespace {

// Smaller than the defaults, so that they are exceeded, and quickly.
ReadLimits Limits() {
  ReadLimits limits;
  limits.max_items = 100'000;
  return limits;
}

Blob BlobOf(std::string_view bytes) {
  return Blob::Copy(std::as_bytes(std::span(bytes)));
}

// The model of an image, whose path a single file need not have; a folder is written there, and
// removed again.
Result<ReadModel> ReadBack(const FileImage& image, const std::string& path) {
  if (!image.is_folder) return ReadModelBytes(image.Contents(), path, Limits());
  NN_ASSIGN(const StagedModel staged, StagedModel::Write(image, path));
  return staged.Read(Limits());
}

// Empty if the model cannot be dumped, which is allowed.
std::optional<std::string> DumpOf(const ReadModel& model) {
  std::string text;
  DumpWriter out([&](std::string_view piece) { text += piece; }, {DumpWeights::kBase64});
  if (!WriteDump(model, out)) return std::nullopt;
  return text;
}

// Empty unless no file may cause the error.
std::string Internal(const Error& error) {
  return error.code() == ErrorCode::kInternal ? "internal error: " + error.message()
                                              : std::string();
}

std::string CheckRename(const ReadModel& model, const std::string& path) {
  auto names = model.format->describer.PortNamesOf(*model.model);
  if (!names) return Internal(names.error());
  for (auto* list : {&names->inputs, &names->outputs})
    for (std::string& name : *list) name = "fresh " + name;
  const auto image = model.format->editor.Rename(*model.model, *names, ExportOptions{path});
  if (!image) return Internal(image.error());
  const auto again = ReadBack(*image, path);
  if (!again) {
    if (again.error().code() == ErrorCode::kLimit) return {};
    return "a renamed model is not read: " + again.error().message();
  }
  const auto renamed = again->format->describer.PortNamesOf(*again->model);
  if (!renamed || *renamed != *names) return "a renamed model has other names";
  return {};
}

// The edit that keeps everything.
std::string CheckEdit(const ReadModel& model) {
  const auto flow = model.format->editor.FlowOf(*model.model);
  if (!flow) return Internal(flow.error());
  NativeEdit edit;
  edit.keeps.assign(flow->operators.size(), true);
  for (const size_t v : flow->inputs) edit.inputs.push_back({v});
  for (const size_t v : flow->outputs) edit.outputs.push_back({v});
  auto same = model.format->editor.Apply(*model.model, edit);
  if (!same) return Internal(same.error());
  const auto names = model.format->describer.PortNamesOf(*model.model);
  const auto kept = model.format->describer.PortNamesOf(**same);
  if (names && (!kept || *kept != *names)) return "an edited model has other names";
  edit.strip = {.docs = true, .names = true, .metadata = true};
  const auto stripped = model.format->editor.Apply(*model.model, edit);
  if (!stripped) return Internal(stripped.error());
  // The second half of the operators, with what it reads and writes.
  const size_t half = edit.keeps.size() / 2;
  std::set<size_t> reads, writes;
  for (size_t i = 0; i < edit.keeps.size(); ++i) {
    edit.keeps[i] = i >= half;
    if (i < half) continue;
    reads.insert(flow->operators[i].inputs.begin(), flow->operators[i].inputs.end());
    writes.insert(flow->operators[i].outputs.begin(), flow->operators[i].outputs.end());
  }
  edit.inputs.clear();
  edit.outputs.clear();
  const ValueType type = ValueType::Tensor(DType::kF32, Dims{Dim(2), Dim::Symbol("n")});
  for (const size_t v : reads)
    if (!flow->values[v].is_constant) edit.inputs.push_back({v, type});
  for (const size_t v : writes) edit.outputs.push_back({v});
  const auto piece = model.format->editor.Apply(*model.model, edit);
  return piece ? std::string() : Internal(piece.error());
}

// The path of a copy in the model's own format.
std::string PathOfCopy(const ReadModel& model, const std::string& path) {
  // A path for dumps is not a path for models.
  if (model.from_dump || IsDumpPath(path)) return "m" + std::string(model.format->extensions[0]);
  // What is in a folder is copied to another one.
  return std::filesystem::is_directory(path) ? path + ".mlpackage" : path;
}

std::string CheckCopies(const ReadModel& model, const std::string& path, const std::string& dump) {
  auto restored = ReadModelBytes(BlobOf(dump), "m.json", Limits());
  if (!restored) {
    // The text of a model is larger than the model, and has more items.
    if (restored.error().code() == ErrorCode::kLimit) return {};
    return "a dump is not restored: " + restored.error().message();
  }
  if (DumpOf(*restored) != dump) return "a restored model is dumped otherwise";
  const std::string own = PathOfCopy(model, path);
  const auto image = model.format->writer.Save(*model.model, ExportOptions{own});
  if (!image) return {};  // side files do not exist
  const auto again = ReadBack(*image, own);
  if (!again) {
    if (again.error().code() == ErrorCode::kLimit) return {};
    return "a saved model is not read: " + again.error().message();
  }
  // Only the copy of a package has all files beside the model, at the same places.
  const bool has_files = image->is_folder || dump.find("\"$files\"") != std::string::npos;
  if ((!has_files || path.ends_with(".mlpackage")) && DumpOf(*again) != dump)
    return "a saved model is dumped otherwise";
  if (std::string broken = CheckRename(model, own); !broken.empty()) return broken;
  return CheckEdit(model);
}

// Converts as nnconvert does. True if a sound file was written.
Result<bool> Convert(const ReadModel& model, const Graph& source, const OutputKind& kind,
                     bool verify) {
  Graph fitted = source.Clone();
  NN_RETURN_IF_ERROR(ForgetDeclaredShapes(fitted));
  InterfaceAxes axes;
  std::vector<UnsupportedNode> unsupported;
  NN_RETURN_IF_ERROR(FitTo(kind.target(), fitted, axes, unsupported));
  if (!unsupported.empty()) return false;
  const auto source_error = [&] { return FirstError(model); };
  NN_ASSIGN(const FileImage image, kind.format->writer.Write(fitted, kind.options));
  NN_ASSIGN(const ReadModel written,
            ReadWritten(ReadBack(image, kind.options.path), *kind.format, source_error));
  NN_RETURN_IF_ERROR(CheckWritten(written, source_error));
  NN_ASSIGN(Graph converted, ImportWritten(written, source_error));
  if (!verify) return true;
  VerifyOptions options;
  options.limits = kRunLimits;
  options.runs = 1;
  // Another test checks for drift.
  NN_RETURN_IF_ERROR(VerifyConversion(
      source.Clone(), [&] { return Result<Graph>(std::move(converted)); }, axes, options));
  return true;
}

std::string ConvertToAll(const ReadModel& model, const Graph& graph, bool verify, int& written) {
  for (const OutputKind& kind : OutputKinds()) {
    const auto done = Convert(model, graph, kind, verify);
    if (done && *done) ++written;
    if (done) continue;
    if (std::string what = Internal(done.error()); !what.empty())
      return fmt::format("to {}: {}", kind.label, what);
  }
  return {};
}

void ExerciseGraph(const ReadModel& model, const ExerciseOptions& options, Exercised& result) {
  auto imported = model.format->importer.Import(*model.model);
  if (!imported) {
    result.broken = Internal(imported.error());
    return;
  }
  Graph& graph = imported->graph;
  if (const auto s = Verify(graph); !s && s.error().code() == ErrorCode::kInternal) {
    result.broken = "an imported graph is broken: " + s.error().message();
    return;
  }
  result.imported = imported->unsupported.empty();
  if (!result.imported) return;
  NamePorts(graph);
  if (options.convert) result.broken = ConvertToAll(model, graph, options.verify, result.written);
  if (!options.run || !result.broken.empty()) return;
  const ModelRun run = RunModelEverywhere(graph, options.inputs);
  result.ran = run.ran;
  result.skipped = run.skipped;
  result.broken = run.broken;
}

void ExerciseModel(const ReadModel& model, const std::string& path, const ExerciseOptions& options,
                   Exercised& result) {
  Validate(*model.model, *model.format, ValidateOptions{Profile::kStrict});
  if (!model.format->describer.Summarize(*model.model))
    result.broken = "a model cannot be summarized";
  if (const auto tensors = model.format->describer.TensorsOf(*model.model))
    for (const TensorEntry& tensor : *tensors)
      if (const auto read = tensor.read(); !read && result.broken.empty())
        result.broken = Internal(read.error());
  if (result.broken.empty()) ExerciseGraph(model, options, result);
  if (!options.copy || !result.broken.empty()) return;
  if (const auto dump = DumpOf(model)) result.broken = CheckCopies(model, path, *dump);
}

Exercised ExerciseRead(const std::function<Result<ReadModel>()>& read, const std::string& path,
                       const ExerciseOptions& options) {
  Exercised result;
  try {
    const auto model = read();
    if (!model) {
      result.broken = Internal(model.error());
      return result;
    }
    result.read = true;
    ExerciseModel(*model, path, options, result);
  } catch (const std::bad_alloc&) {
    result.skipped = true;
  } catch (const std::exception& e) {
    result.broken = fmt::format("exception: {}", e.what());
  }
  return result;
}

}  // namespace

Exercised Exercise(std::string_view bytes, const std::string& path,
                   const ExerciseOptions& options) {
  return ExerciseRead([&] { return ReadModelBytes(BlobOf(bytes), path, Limits()); }, path, options);
}

Exercised ExerciseFolder(const std::string& path, const ExerciseOptions& options) {
  return ExerciseRead([&] { return ReadModelFile(path, Limits()); }, path, options);
}

}  // namespace nn::test
