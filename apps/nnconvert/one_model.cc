#include "apps/nnconvert/one_model.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/ports/port_arrays.h"
#include "apps/common/program.h"
#include "apps/common/progress.h"
#include "apps/nnconvert/quantize_options.h"
#include "apps/nnconvert/report/attest.h"
#include "base/file/file.h"
#include "base/file/staging.h"
#include "base/text/text.h"
#include "convert/convert.h"
#include "convert/edits/graph_edits.h"
#include "convert/edits/node_pattern.h"
#include "convert/verify/source_effects.h"
#include "passes/core/ports.h"
#include "tensorio/literal.h"
#include "tensorio/tensor_archive.h"

namespace nn::app {
namespace {

// Sets the new names in `renamed`, by the present names.
Status Rename(std::string_view option, const std::vector<std::string>& renames,
              const std::vector<std::string>& names, std::vector<std::string>& renamed) {
  std::vector<bool> done(names.size());
  for (const std::string& text : renames) {
    NN_ASSIGN(const Assignment a, SplitAssignment(text, names));
    if (a.value.empty()) return UsageError("{}: the new name is empty", Quote(text));
    if (!IsUtf8(a.value)) return UsageError("{}: the new name is not UTF-8", Quote(text));
    if (done[a.port])
      return UsageError("{}: {} is renamed twice", Quote(text), Quote(names[a.port]));
    if (a.value == names[a.port])
      return UsageError("{} {} has no effect: this is the name", option, Quote(text));
    done[a.port] = true;
    renamed[a.port] = a.value;
  }
  return {};
}

// The names after --rename-input and --rename-output, which all apply at once. Different names must
// stay different, also those of inputs and outputs.
Result<PortNames> NewNames(const ConvertArguments& o, const PortNames& names) {
  PortNames renamed = names;
  NN_RETURN_IF_ERROR(Rename("--rename-input", o.rename_inputs, names.inputs, renamed.inputs));
  NN_RETURN_IF_ERROR(Rename("--rename-output", o.rename_outputs, names.outputs, renamed.outputs));
  std::map<std::string_view, std::string_view> old_names;  // by new ones
  const auto check = [&](const std::vector<std::string>& from,
                         const std::vector<std::string>& to) -> Status {
    for (size_t i = 0; i < from.size(); ++i) {
      const std::string_view old = old_names.try_emplace(to[i], from[i]).first->second;
      if (old == from[i]) continue;
      return UsageError("{}: the model already has an input or output of that name",
                        Quote(fmt::format("{}={}", from[i] == to[i] ? old : from[i], to[i])));
    }
    return {};
  };
  NN_RETURN_IF_ERROR(check(names.inputs, renamed.inputs));
  NN_RETURN_IF_ERROR(check(names.outputs, renamed.outputs));
  return renamed;
}

// Applies --clip-input.
Status ClipInputs(Graph& graph, const std::vector<std::string>& clipped) {
  if (clipped.empty()) return {};
  const PortFinder finder(graph.inputs(), {"in"});
  std::set<size_t> done;
  for (const std::string& text : clipped) {
    NN_ASSIGN(const Assignment a, finder.Split(text));
    const auto& [name, value] = graph.inputs()[a.port];
    const Type scalar(value->dtype(), {}, value->type().quant);
    const size_t comma = a.value.find(',');
    if (comma == std::string::npos || !done.insert(a.port).second)
      return UsageError("--clip-input {}: expected NAME=MIN,MAX, once for each input", Quote(text));
    if (scalar.quantized() || !(IsFloat(scalar.dtype) || IsInteger(scalar.dtype)))
      return UsageError(
          "--clip-input {}: the input is {}; only numbers that are not quantized can be "
          "clipped",
          Quote(text), value->type().ToString());
    auto min = ParseLiteral(std::string_view(a.value).substr(0, comma), scalar);
    if (!min) return tl::unexpected(min.error().In("--clip-input " + Quote(text)));
    auto max = ParseLiteral(std::string_view(a.value).substr(comma + 1), scalar);
    if (!max) return tl::unexpected(max.error().In("--clip-input " + Quote(text)));
    if (!(min->GetDouble(0) <= max->GetDouble(0)))
      return UsageError("--clip-input {}: the bounds contain no number", Quote(text));
    NN_RETURN_IF_ERROR(ClipInput(graph, a.port, *std::move(min), *std::move(max)));
  }
  return {};
}

// Applies the options that change the graph for every format.
Status Prepare(Graph& graph, const ConvertArguments& o) {
  if (GraphEditOption(o.graph_edits).empty()) NN_RETURN_IF_ERROR(BindShapes(graph, o.shapes));
  NN_RETURN_IF_ERROR(ClipInputs(graph, o.clipped_inputs));
  NN_ASSIGN(PortNames names, NewNames(o, {NamesOf(graph.inputs()), NamesOf(graph.outputs())}));
  for (size_t i = 0; i < names.inputs.size(); ++i) graph.RenameInput(i, std::move(names.inputs[i]));
  for (size_t i = 0; i < names.outputs.size(); ++i)
    graph.RenameOutput(i, std::move(names.outputs[i]));
  return {};
}

// The option that changes names; "" if none does.
std::string_view NameChange(const ConvertArguments& o) {
  return !o.rename_inputs.empty()    ? "--rename-input"
         : !o.rename_outputs.empty() ? "--rename-output"
                                     : "";
}

// The options that change the graph.
std::vector<std::string_view> GraphChanges(const ConvertArguments& o) {
  std::vector<std::string_view> out;
  const auto add = [&](bool is_given, std::string_view option) {
    if (is_given) out.push_back(option);
  };
  const std::string_view edit = GraphEditOption(o.graph_edits);
  add(!edit.empty(), edit);
  add(!o.shapes.input_shapes.empty(), "--input-shape");
  add(o.shapes.batch.has_value(), "--batch");
  add(!o.shapes.lengths.empty(), "--length");
  add(!o.fixed_inputs.empty(), "--fix-input");
  add(!o.clipped_inputs.empty(), "--clip-input");
  add(o.opset != 0, "--opset");
  add(o.fold_batch_norm, "--fold-batch-norm");
  add(o.fuse, "--fuse");
  add(o.simplify, "--simplify");
  add(o.unroll.has_value(), "--unroll");
  add(o.dequantize, "--dequantize");
  add(o.float32, "--float32");
  add(o.fp16, "--fp16");
  add(o.bf16, "--bf16");
  add(!o.quantize.empty(), "--quantize");
  add(o.states, "--states");
  add(o.rewrite, "--rewrite");
  return out;
}

// The first option that changes the graph; "" if none does.
std::string_view GraphChange(const ConvertArguments& o) {
  const std::vector<std::string_view> changes = GraphChanges(o);
  return changes.empty() ? "" : changes.front();
}

// Whether the model stays as it is unless --simplify finds a form with fewer operators.
bool CopiesUnlessSimpler(const ConvertArguments& o) {
  return std::ranges::equal(GraphChanges(o), std::array{std::string_view("--simplify")}) &&
         NameChange(o).empty() && o.external_data.file.empty() && !o.external_data.embed &&
         !o.infer_shapes;
}

Status DumpModel(const ConvertArguments& o, const ReadModel& read, ConvertReport& report) {
  const std::string_view types = o.infer_shapes ? "--infer-shapes" : "";
  for (const std::string_view option : {GraphChange(o), NameChange(o), types})
    if (!option.empty()) return UsageError("{} changes the model, but a dump is a copy", option);
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
    for (const std::string& text : a.fixed_inputs)
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

HalfOptions HalfOf(const ConvertArguments& a) {
  HalfOptions half;
  half.type = a.bf16 ? DType::kBF16 : DType::kF16;
  half.weights_only = a.weights_only;
  half.interface = a.half_interface;
  half.keeps = NodesMatching(a.keep_float32);
  return half;
}

Result<std::vector<GraphEdit>> EditGraph(const ConvertArguments& a, const Format& source,
                                         Graph& graph) {
  NN_ASSIGN(const InputSettings settings, SettingsOf(a.shapes));
  ModelToEdit model = {source, a.input, settings.shapes, settings.batch, a.limits, {}};
  model.verification.limits = a.run_limits;
  model.verification.threads = a.threads;
  return ApplyGraphEdits(a.graph_edits, model, graph);
}

// A null target is any format.
ConvertOptions OptionsOf(const ConvertArguments& a, const Format& source, const Format* target,
                         ShownProgress& shown) {
  ConvertOptions o;
  o.input = a.input;
  o.limits = a.limits;
  o.output = {a.output, a.opset, std::string(Version()), a.external_data, a.infer_shapes};
  // Prepare() reports shapes that cannot be read.
  if (auto settings = SettingsOf(a.shapes)) o.inputs = *std::move(settings);
  if (!a.fixed_inputs.empty())
    o.inputs.constants = [&a](const Graph& graph) { return FixedInputs(a, graph); };
  if (!GraphEditOption(a.graph_edits).empty())
    o.edit = [&a, &source](Graph& graph) { return EditGraph(a, source, graph); };
  o.prepare = [&a](Graph& graph) { return Prepare(graph, a); };
  o.fold_batch_norm = a.fold_batch_norm;
  o.fuse = a.fuse;
  o.simplify = a.simplify;
  o.copy_unless_fewer = CopiesUnlessSimpler(a);
  o.allow_rounding = a.allow_rounding;
  o.unroll = a.unroll;
  o.dequantize = a.dequantize;
  o.float32 = a.float32;
  if (a.fp16 || a.bf16) o.half = HalfOf(a);
  if (!a.quantize.empty())
    o.quantize = QuantizeSettingsOf(a, source, target == nullptr ? source : *target,
                                    NodesMatching(a.keep_float32));
  o.states = a.states;
  o.edited = HasNativeEdits(a);
  o.dry_run = a.dry_run;
  if (a.messages) o.other_name = SayOtherName;
  o.verify = a.verify;
  o.verification.seed = a.seed;
  o.verification.runs = a.verify_runs;
  o.verification.atol = a.atol;
  o.verification.rtol = a.rtol;
  o.verification.limits = a.run_limits;
  o.verification.threads = a.threads;
  o.verification.prepare = [&a](Graph& source) {
    return BindShapes(source, ShapeOptions{a.verify_shapes, std::nullopt});
  };
  if (!a.verify_inputs.empty())
    o.verification.data = [&a, &source](const Graph& graph) {
      return ReadInputSets(a.verify_inputs, graph, source, a.arrays, a.limits);
    };
  o.verification.progress = [&shown](uint64_t done, uint64_t total) {
    shown.Update("verification runs", Progress::Unit::kCount, done, total);
  };
  o.write_progress = [&shown](uint64_t done, uint64_t total) {
    shown.Update("written", Progress::Unit::kBytes, done, total);
  };
  return o;
}

Result<edit::EditReport> ApplyNative(const ConvertArguments& o, ReadModel& read) {
  ShownProgress shown(o.messages);
  // The source, which `verification` may refer to.
  const Format& format = *read.format;
  return ApplyNativeEdits(o, OptionsOf(o, format, nullptr, shown).verification, read);
}

Result<Conversion> Copy(const ConvertArguments& a, const ReadModel& read,
                        const ConvertOptions& options) {
  NN_RETURN_IF_ERROR(CheckSourceEffects(read, options));
  if (NameChange(a).empty()) return CopyModel(read, options);
  NN_ASSIGN(const PortNames names, read.format->port_names(*read.model));
  NN_ASSIGN(const PortNames renamed, NewNames(a, names));
  return RenameModel(read, renamed, options);
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
  const uint64_t before = a.quantize.empty() ? 0 : SizeOfFiles(a.input, read.model->files.Names());
  ShownProgress shown(a.messages);
  const ConvertOptions options = OptionsOf(a, *read.format, &format, shown);
  NN_ASSIGN(report.conversion,
            report.copy ? Copy(a, read, options) : ConvertModel(std::move(read), format, options));
  const Conversion& c = report.conversion;
  report.written = c.written.has_value();
  report.copy = report.copy || c.copied;
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
  return o.to.empty() ? IsDumpPath(o.output) : o.to == "json";
}

Result<const Format*> TargetFormat(const ConvertArguments& o) {
  std::string known;
  for (const Format& f : Formats())
    if (f.write != nullptr) known += fmt::format("{}, ", f.name);
  known += "json";
  const Format* format = o.to.empty() ? FormatOfPath(o.output) : FindFormat(o.to);
  if (format == nullptr)
    return UsageError(
        "{}; --to accepts {}",
        o.to.empty()
            ? fmt::format("the extension of {} does not determine the format", Quote(o.output))
            : fmt::format("unknown format {}", Quote(o.to)),
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
  report.copy = format == nullptr || (format == read.format && GraphChange(o).empty());
  report.renamed = report.copy && !NameChange(o).empty();
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
  ConvertOptions options = OptionsOf(o, *read.format, nullptr, shown);
  const GraphSource from = SourceOf(read, options);
  NN_ASSIGN(const ImportedModel imported, ImportForConversion(read, options));
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
    r.copy = &format == read.format && GraphChange(o).empty();
    if (r.copy) continue;
    const auto convert = [&]() -> Result<Conversion> {
      ConvertOptions framed = options;
      NN_ASSIGN(framed.output, OutputWithin(read, format, options));
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
