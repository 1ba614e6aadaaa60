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
#include "apps/common/progress.h"
#include "apps/nnconvert/quantize_options.h"
#include "base/file/file.h"
#include "base/file/staging.h"
#include "base/text/text.h"
#include "convert/convert.h"
#include "convert/convert_options.h"
#include "convert/inputs/port_arrays.h"
#include "folder/convert_one.h"
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

// Refers to the arguments.
ConvertHooks HooksOf(const ConvertArguments& a, const Format& source, ShownProgress& shown) {
  ConvertHooks hooks;
  if (!a.fixed_texts.empty())
    hooks.constants = [&a](const Graph& graph) { return FixedInputs(a, graph); };
  if (TakesSampleFiles(a))
    hooks.samples = [&a, &source](const Graph& graph,
                                  const std::function<Status(VerifyInputs)>& take) {
      return ForEachInputSet(a.calibrate, graph, source, a.arrays, a.limits, take);
    };
  if (!a.verify_inputs.empty())
    hooks.verify.data = [&a, &source](const Graph& graph) {
      return ReadInputSets(a.verify_inputs, graph, source, a.arrays, a.limits);
    };
  hooks.verify.progress = [&shown](uint64_t done, uint64_t total) {
    shown.Update("verification runs", Progress::Unit::kCount, done, total);
    return Status();
  };
  if (a.messages) hooks.other_name = SayOtherName;
  hooks.write_progress = [&shown](uint64_t done, uint64_t total) {
    shown.Update("written", Progress::Unit::kBytes, done, total);
    return Status();
  };
  return hooks;
}

// Refers to the arguments.
FileJob FileJobOf(const ConvertArguments& a, const Format* format, ShownProgress& shown) {
  FileJob file = {a, a.input, a.output, a.folder.edits, format, a.digests};
  file.hooks = [&a, &shown](const Format& source) { return HooksOf(a, source, shown); };
  file.dump = [&a](const ReadModel& read, ConvertReport& report) {
    return DumpModel(a, read, report);
  };
  return file;
}

}  // namespace

bool WantsDump(const ConvertArguments& o) {
  return o.format.empty() ? IsDumpPath(o.output) : o.format == "json";
}

Result<const Format*> TargetFormat(const ConvertArguments& o) {
  std::string known;
  for (const Format& f : Formats()) known += fmt::format("{}, ", f.name);
  known += "json";
  const Format* format = o.format.empty() ? FormatOfPath(o.output) : FindFormat(o.format);
  if (format == nullptr)
    return UsageError(
        "{}; --to accepts {}",
        o.format.empty()
            ? fmt::format("the extension of {} does not determine the format", Quote(o.output))
            : fmt::format("unknown format {}", Quote(o.format)),
        known);
  if (o.opset != 0 && format->name != "onnx")
    return UsageError("--opset is for ONNX; the output is {}", format->label);
  if (o.infer_shapes && format->name != "onnx")
    return UsageError("--infer-shapes is for ONNX; the output is {}", format->label);
  NN_RETURN_IF_ERROR(CheckFormatOptions(o, *format));
  if ((!o.external_data.file.empty() || o.external_data.embed) && !format->writer.HasExternalData())
    return UsageError("{} is for ONNX and NNAPI; the output is {}",
                      o.external_data.embed ? "--embed-data" : "--external-data", format->label);
  return format;
}

Status ConvertOne(const ConvertArguments& o, const Format* format, ConvertReport& report) {
  ShownProgress shown(o.messages);
  return nn::ConvertOne(FileJobOf(o, format, shown), report);
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
  ShownProgress shown(o.messages);
  const FileJob file = FileJobOf(o, nullptr, shown);
  const ConvertJob job = JobOf(file, *read.format);
  std::optional<edit::EditReport> edit;
  if (job.edited) {
    NN_ASSIGN(edit, ApplyNativeEdits(file.edits, job, read));
  }
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
    NN_RETURN_IF_ERROR(AddDigests(o.input, read.model->files.Names(), source.input_files));
  }
  TargetsReport report;
  for (const Format& format : Formats()) {
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
