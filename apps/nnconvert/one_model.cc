#include "apps/nnconvert/one_model.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/model/model.h"
#include "apps/common/ports/port_arrays.h"
#include "apps/common/program.h"
#include "apps/common/progress.h"
#include "apps/nnconvert/quantize_options.h"
#include "apps/nnconvert/report/attest.h"
#include "base/file/file.h"
#include "base/file/staging.h"
#include "base/text/text.h"
#include "convert/convert.h"
#include "passes/core/ports.h"
#include "tensorio/tensor_archive.h"

namespace nn::app {
namespace {

Status DumpModel(const ConvertArguments& o, const ReadModel& read, ConvertReport& report) {
  std::vector<std::string> changes = OptionsWith(kChangesGraph | kChangesNames, o);
  if (o.infer_shapes) changes.emplace_back("--infer-shapes");
  if (!changes.empty())
    return UsageError("{} changes the model, but a dump is a copy", changes.front());
  if (o.dry_run) return {};
  NN_RETURN_IF_ERROR(WriteDumpOf(read, o.output, o.dump));
  report.written = true;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(o.output, error);
  if (!error) report.bytes = bytes;
  return {};
}

// The progress of one activity after another.
class ShownProgress {
 public:
  explicit ShownProgress(bool shown) : shown_(shown) {}

  void Update(std::string_view what, Progress::Unit unit, uint64_t done, uint64_t total) {
    if (!shown_) return;
    if (done == 0)
      progress_.emplace(std::string(what), total, unit);
    else
      progress_->Update(done);
    if (done == total) progress_.reset();
  }

 private:
  bool shown_;
  std::optional<Progress> progress_;
};

// The contents of --fix-input, by position of the input.
Result<std::map<size_t, Tensor>> FixedInputs(const ConvertArguments& a, const Graph& graph) {
  std::vector<PortType> ports = TypesOf(graph.inputs());
  std::vector<std::string> names = NamesOf(graph.inputs());
  NameUnnamed(names, "in");
  for (size_t i = 0; i < ports.size(); ++i) ports[i].name = names[i];
  const PortFinder finder(graph.inputs(), {"in"});
  PortArrays given(ports.size());
  const auto read = [&]() -> Status {
    for (const std::string& text : a.fixed_texts)
      NN_RETURN_IF_ERROR(IsTensorArchivePath(text)
                             ? ReadPortArrays(text, ports, finder, a.limits, given)
                             : ReadPortValue(text, ports, finder, given, {}));
    PortArrays arrays = given;
    NN_RETURN_IF_ERROR(FitTypes(ports, Casting::kExact, arrays));
    NN_RETURN_IF_ERROR(FitShapes(ports, false, arrays));
    given = std::move(arrays);
    return {};
  };
  if (auto s = read(); !s)
    return tl::unexpected(WithPorts(s.error(), "input", ports, given).In("--fix-input"));
  std::map<size_t, Tensor> out;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i]) out.emplace(i, *std::move(given[i]));
  return out;
}

ConvertJob JobOf(const ConvertArguments& a, const Format& source, ShownProgress& shown) {
  ConvertJob job = {a, a.input, a.output, std::string(Version())};
  job.edited = HasNativeEdits(a);
  if (!a.fixed_texts.empty())
    job.hooks.constants = [&a](const Graph& graph) { return FixedInputs(a, graph); };
  if (TakesSampleFiles(a))
    job.hooks.samples = [&a, &source](const Graph& graph,
                                      const std::function<Status(VerifyInputs)>& take) {
      return ForEachInputSet(a.calibrate, graph, source, a.arrays, a.limits, take);
    };
  if (!a.verify_inputs.empty())
    job.hooks.verify.data = [&a, &source](const Graph& graph) {
      return ReadInputSets(a.verify_inputs, graph, source, a.arrays, a.limits);
    };
  job.hooks.verify.progress = [&shown](uint64_t done, uint64_t total) {
    shown.Update("verification runs", Progress::Unit::kCount, done, total);
  };
  if (a.messages) job.hooks.other_name = SayOtherName;
  job.hooks.write_progress = [&shown](uint64_t done, uint64_t total) {
    shown.Update("written", Progress::Unit::kBytes, done, total);
  };
  return job;
}

Result<edit::EditReport> ApplyNative(const ConvertArguments& o, ReadModel& read) {
  ShownProgress shown(o.messages);
  // The source, which `verification` may refer to.
  const Format& format = *read.format;
  const ConvertJob job = JobOf(o, format, shown);
  return ApplyNativeEdits(o, RunsOf(job), read);
}

// The bytes of the model at `path` and of the files beside it; 0 if that is not known.
uint64_t SizeOfFiles(const std::string& path, const std::vector<std::string>& beside) {
  namespace fs = std::filesystem;
  std::error_code error;
  uint64_t bytes = 0;
  const auto add = [&](const fs::path& file) {
    const auto size = fs::file_size(file, error);
    if (!error) bytes += size;
  };
  if (fs::is_directory(path, error)) {
    for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
         it.increment(error))
      if (it->is_regular_file(error)) add(it->path());
    return bytes;
  }
  if (!fs::is_regular_file(path, error)) return 0;
  add(path);
  for (const std::string& name : beside) add(fs::path(path).parent_path() / name);
  return bytes;
}

Status Convert(const ConvertArguments& a, ReadModel read, const Format& format,
               ConvertReport& report) {
  const uint64_t before = a.quantize ? SizeOfFiles(a.input, read.model->files.Names()) : 0;
  ShownProgress shown(a.messages);
  // The source, which the job may refer to.
  const Format& source = *read.format;
  NN_ASSIGN(report.conversion, ConvertOrCopy(std::move(read), format, JobOf(a, source, shown)));
  const Conversion& c = report.conversion;
  report.written = c.written.has_value();
  report.copy = c.copy || c.copied;
  if (c.written) report.bytes = c.written->bytes;
  report.conversion.bytes_before = before;
  return {};
}

std::string Label(const Format& format, bool dump) {
  return dump ? fmt::format("JSON dump of {}", format.label) : std::string(format.label);
}

// Adds the digests of files beside the model at `path`.
Status AddBeside(const std::string& path, const std::vector<std::string>& names,
                 std::vector<FileDigest>& files) {
  NN_ASSIGN(const std::vector<FileDigest> beside, DigestBeside(path, names));
  files.insert(files.end(), beside.begin(), beside.end());
  return {};
}

Status DigestWritten(const ConvertArguments& a, ConvertReport& report) {
  std::vector<std::string> names;
  if (report.conversion.written)
    for (const auto& [name, bytes] : report.conversion.written->side_files) names.push_back(name);
  NN_ASSIGN(report.output_files, DigestModel(a.output, names));
  return {};
}

}  // namespace

bool WantsDump(const ConvertArguments& o) {
  return o.format.empty() ? IsDumpPath(o.output) : o.format == "json";
}

Result<const Format*> TargetFormat(const ConvertArguments& o) {
  std::string known;
  for (const Format& f : Formats())
    if (f.write != nullptr) known += fmt::format("{}, ", f.name);
  known += "json";
  const Format* format = o.format.empty() ? FormatOfPath(o.output) : FindFormat(o.format);
  if (format == nullptr)
    return UsageError(
        "{}; --to accepts {}",
        o.format.empty()
            ? fmt::format("the extension of {} does not determine the format", Quote(o.output))
            : fmt::format("unknown format {}", Quote(o.format)),
        known);
  if (format->write == nullptr)
    return UsageError("{} models cannot be written; --to accepts {}", format->label, known);
  if (o.opset != 0 && format->name != "onnx")
    return UsageError("--opset is for ONNX; the output is {}", format->label);
  if (o.infer_shapes && format->name != "onnx")
    return UsageError("--infer-shapes is for ONNX; the output is {}", format->label);
  if ((!o.external_data.file.empty() || o.external_data.embed) && !format->external_data)
    return UsageError("{} is for ONNX and NNAPI; the output is {}",
                      o.external_data.embed ? "--embed-data" : "--external-data", format->label);
  return format;
}

Status ConvertOne(const ConvertArguments& o, const Format* format, ConvertReport& report) {
  report.input = o.input;
  report.output = o.output.empty() ? "-" : o.output;
  report.dry_run = o.dry_run;
  NN_ASSIGN(ReadModel read, ReadModelFile(o.input, o.limits));
  report.input_format = Label(*read.format, read.from_dump);
  report.output_format = format == nullptr ? Label(*read.format, true) : Label(*format, false);
  report.copy =
      format == nullptr || (format == read.format && OptionsWith(kChangesGraph, o).empty());
  report.renamed = report.copy && !OptionsWith(kChangesNames, o).empty();
  report.typed = report.copy && o.infer_shapes;
  // The output may replace the model, but not the files beside it, which are known only afterwards.
  if (o.digests) {
    NN_ASSIGN(report.input_files, DigestModel(o.input));
    HashSource(o, report);
  }
  const SideFiles files = read.model->files;
  if (HasNativeEdits(o)) {
    NN_ASSIGN(report.native_edit, ApplyNative(o, read));
    if (report.native_edit->verification && !report.native_edit->verification->passed) return {};
  }
  NN_RETURN_IF_ERROR(format == nullptr ? DumpModel(o, read, report)
                                       : Convert(o, std::move(read), *format, report));
  if (!report.input_files.empty())
    NN_RETURN_IF_ERROR(AddBeside(o.input, files.Names(), report.input_files));
  return o.digests && report.written ? DigestWritten(o, report) : Status();
}

Status ConvertToSource(const ConvertArguments& o, const Format* format, ConvertReport& report) {
  NN_RETURN_IF_ERROR(CheckCSource(o.c_source, o.output));
  if (!o.external_data.file.empty())
    return UsageError("--external-data: an array of C has the whole model");
  if (format == nullptr) {
    if (o.input == "-") return UsageError("--to is required with standard input");
    NN_ASSIGN(const ReadModel read, ReadModelFile(o.input, o.limits));
    format = read.format;
  }
  auto folder = StagingFolder::Create(ParentFolder(o.output));
  if (!folder) return IoError("{}: {}", o.output, ErrnoText(folder.error()));
  ConvertArguments model = o;
  model.output = folder->path() + "/model" + std::string(format->extensions.front());
  NN_RETURN_IF_ERROR(ConvertOne(model, format, report));
  report.output = o.output;
  report.output_format = "C source of " + report.output_format;
  report.output_files.clear();
  if (!report.written) return {};
  report.written = false;
  if (report.conversion.written && !report.conversion.written->side_files.empty())
    return UnsupportedError(
        "the model has data in other files, and an array of C has the whole model; --embed-data "
        "moves them into it");
  NN_ASSIGN(const Blob file, ReadFile(model.output, o.limits.max_file_bytes));
  NN_ASSIGN(const ReadModel read, ReadModelBytes(file, model.output, o.limits));
  NN_ASSIGN(report.c_header, WriteCSource(read, file, o.output, o.c_source));
  report.written = true;
  return {};
}

Result<TargetsReport> DryRunForAll(const ConvertArguments& o) {
  NN_ASSIGN(ReadModel read, ReadModelFile(o.input, o.limits));
  std::optional<edit::EditReport> edit;
  if (HasNativeEdits(o)) {
    NN_ASSIGN(edit, ApplyNative(o, read));
  }
  ShownProgress shown(o.messages);
  const ConvertJob job = JobOf(o, *read.format, shown);
  const GraphSource from = SourceOf(read, job);
  NN_ASSIGN(const ImportedModel imported, ImportForConversion(read, job));
  ConvertReport source;
  source.input = o.input;
  source.input_format = read.format->label;
  source.output = "-";
  source.dry_run = true;
  source.native_edit = std::move(edit);
  if (o.digests) {
    NN_ASSIGN(source.input_files, DigestModel(o.input));
    NN_RETURN_IF_ERROR(AddBeside(o.input, read.model->files.Names(), source.input_files));
  }
  TargetsReport report;
  for (const Format& format : Formats()) {
    if (format.write == nullptr) continue;
    ConvertReport& r = report.targets.emplace_back(source);
    r.output_format = format.label;
    r.copy = IsCopy(read, format, job);
    if (r.copy) continue;
    const auto convert = [&]() -> Result<Conversion> {
      NN_ASSIGN(const ConvertJob framed, WithinFormat(read, format, job));
      return ConvertGraph({imported.graph.Clone(), imported.unsupported, imported.hybrids,
                           imported.states, imported.notes},
                          from, format, framed);
    };
    auto done = convert();
    if (done)
      r.conversion = *std::move(done);
    else if (done.error().code() == ErrorCode::kUnsupported)
      r.error = done.error();
    else
      return tl::unexpected(done.error());
  }
  return report;
}

}  // namespace nn::app
