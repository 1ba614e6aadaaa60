// nnconvert: converts a model to another format and verifies that it computes the same.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <system_error>

#include "apps/common/command_line.h"
#include "apps/nnconvert/options.h"
#include "apps/nnconvert/report.h"
#include "apps/nnconvert/staging.h"
#include "apps/nnconvert/support.h"
#include "apps/nnconvert/written.h"
#include "base/file.h"
#include "base/text.h"
#include "passes/legalize.h"
#include "passes/passes.h"
#include "passes/ports.h"
#include "passes/weights.h"

namespace nn::app {
namespace {

void AddOptions(CommandLine& command, ConvertOptions& o) {
  CLI::App& app = command.options();
  app.add_option("IN", o.input, "Model file");
  app.add_option(
      "OUT", o.output,
      "File to write; its extension determines the format. The format of IN: a copy, unless an "
      "option changes the model. .json: a dump, which can be read in place of the model");
  app.add_option("--to", o.to,
                 "Format to write, if the extension does not determine it; json: a dump")
      ->type_name("FORMAT");
  AddShapeOptions(command, o.shapes);
  app.add_option("--opset", o.opset, "ONNX operator set version to write")->type_name("N");
  command.AddRepeated("--rename-input", o.rename_inputs, "Rename an input; repeatable")
      ->type_name("OLD=NEW");
  command.AddRepeated("--rename-output", o.rename_outputs, "Rename an output; repeatable")
      ->type_name("OLD=NEW");
  app.add_flag("--fold-batch-norm", o.fold_batch_norm,
               "Fold batch normalizations into the weights of the preceding convolutions: faster, "
               "but rounds differently");
  app.add_flag("--rewrite", o.rewrite,
               "Import IN and write it again, even if a copy would suffice");
  app.add_option("--external-data", o.external_data.file,
                 "ONNX, NNAPI: store large tensors in this file beside OUT; automatic for ONNX "
                 "models above 2 GiB")
      ->type_name("FILE");
  app.add_option("--external-threshold", o.external_data.threshold,
                 "Smallest tensor that --external-data moves")
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_flag("--embed-data", o.external_data.embed,
               "ONNX, NNAPI: store the external tensors of IN in OUT")
      ->excludes("--external-data");
  AddWeightsOption(command, o.dump);
  app.add_flag("--dry-run", o.dry_run,
               "Write nothing; list all operators that cannot be converted (exit code 3 if any)");
  app.add_flag("--support", o.support,
               "Print which operators are read, written and executed, as Markdown");
  app.add_flag("!--no-verify", o.verify, "Do not run both models and compare their outputs");
  app.add_option("--seed", o.seed, "Seed of the first verification run's inputs")
      ->capture_default_str();
  app.add_option("--verify-runs", o.verify_runs, "Verification runs, each with the next seed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .AddRepeated("--verify-shape", o.verify_shapes,
                   "Shape of an input for the verification only; repeatable")
      ->type_name("NAME:SHAPE");
  app.add_option("--atol", o.atol, "Largest absolute difference of a float output")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option(
         "--rtol", o.rtol,
         "Largest difference relative to the output's largest magnitude; quantized outputs: "
         "one step")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--format", o.format, "Form of the report")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

Result<const Format*> TargetFormat(const ConvertOptions& o) {
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
  if ((!o.external_data.file.empty() || o.external_data.embed) && !format->external_data)
    return UsageError("{} is for ONNX and NNAPI; the output is {}",
                      o.external_data.embed ? "--embed-data" : "--external-data", format->label);
  return format;
}

// `others` are the opposite ports (outputs for inputs), whose names must differ too.
Status Rename(const std::vector<std::string>& renames, const std::vector<Port>& ports,
              const std::vector<Port>& others,
              const std::function<void(size_t, std::string)>& rename) {
  for (const std::string& text : renames) {
    NN_ASSIGN(const Assignment a, SplitAssignment(text, ports));
    const auto clashes = [&](const Port& p) { return p.name == a.value; };
    if (a.value.empty()) return UsageError("{}: the new name is empty", Quote(text));
    if (ports[a.port].name == a.value) continue;
    if (std::any_of(ports.begin(), ports.end(), clashes) ||
        std::any_of(others.begin(), others.end(), clashes))
      return UsageError("{}: the model already has an input or output of that name", Quote(text));
    rename(a.port, a.value);
  }
  return {};
}

// Applies the options that change the graph for every format.
Status Prepare(Graph& graph, const ConvertOptions& o) {
  NamePorts(graph);
  NN_RETURN_IF_ERROR(BindShapes(graph, o.shapes));
  NN_RETURN_IF_ERROR(
      Rename(o.rename_inputs, graph.inputs(), graph.outputs(),
             [&](size_t i, std::string name) { graph.RenameInput(i, std::move(name)); }));
  return Rename(o.rename_outputs, graph.outputs(), graph.inputs(),
                [&](size_t i, std::string name) { graph.RenameOutput(i, std::move(name)); });
}

// Legalizes the graph for the format and collects the unsupported nodes, those of the import first.
Status Fit(Graph& graph, const Format& format, InterfaceAxes& axes, ConvertReport& report) {
  Status fit = FitTo(*format.target, graph, axes, report.obstacles);
  if (fit) return {};
  if (report.obstacles.empty()) return fit;
  report.rest_unchecked = fit.error().message();
  return {};
}

int64_t CountOf(const Graph& graph, std::string_view op) {
  return std::count_if(graph.nodes().begin(), graph.nodes().end(),
                       [&](const Node& node) { return node.Is(op); });
}

// Report facts about the source graph, taken so that the graph need not stay in memory.
struct SourceSummary {
  explicit SourceSummary(const Graph& graph) : batch_norms(CountOf(graph, "batch_norm")) {
    for (const Port& p : graph.inputs()) inputs.push_back({p.name, p.value->type()});
    for (const Port& p : graph.outputs()) outputs.push_back({p.name, p.value->type()});
  }

  std::vector<std::pair<std::string, Type>> inputs, outputs;
  int64_t batch_norms = 0;
};

// The inputs and outputs whose axes were permuted.
std::vector<MovedPort> MovedPorts(const SourceSummary& source, const Graph& fitted,
                                  const InterfaceAxes& axes) {
  std::vector<MovedPort> out;
  const auto add = [&](std::string_view kind, const auto& from, const std::vector<Port>& to,
                       const std::vector<AxisMap>& maps) {
    for (size_t i = 0; i < maps.size(); ++i)
      if (!maps[i].IsIdentity())
        out.push_back({std::string(kind), from[i].first, from[i].second.ToString(),
                       to[i].value->type().ToString(), maps[i].from()});
  };
  add("input", source.inputs, fitted.inputs(), axes.inputs);
  add("output", source.outputs, fitted.outputs(), axes.outputs);
  return out;
}

// Checks and verifies the written model; false if the outputs drift.
Result<bool> IsSound(const StagedModel& staged, const SourceError& source_error, Graph source,
                     const InterfaceAxes& axes, const Format& format, const ConvertOptions& o,
                     ConvertReport& report) {
  NN_ASSIGN(ReadModel written, ReadWritten(staged.Read(), format, source_error));
  NN_RETURN_IF_ERROR(CheckWritten(written, source_error));
  if (!o.verify) return true;
  const auto import_converted = [&] {
    auto graph = ImportWritten(written, source_error);
    written.model.reset();
    return graph;
  };
  NN_ASSIGN(report.verification, VerifyConversion(std::move(source), import_converted, axes, o));
  return report.verification->passed;
}

using MakeImage = std::function<Result<FileImage>(const ExportOptions&)>;

// Stages the model's files under names that are free or already have the same contents.
Result<FileImage> ImageToWrite(const MakeImage& make, ExportOptions options) {
  NN_ASSIGN(FileImage image, make(options));
  NN_ASSIGN(const SideFile* taken, FindTakenName(image, options.path));
  if (taken == nullptr) return image;
  std::string& file = options.external_data.file;
  const std::string wanted = taken->name;
  file = FreeName(image, file.empty() ? wanted : file);
  SayOtherName(wanted, file);
  NN_ASSIGN(image, make(options));
  NN_ASSIGN(taken, FindTakenName(image, options.path));
  if (taken == nullptr) return image;
  return UsageError("{}: a different file of this name exists; choose another with --external-data",
                    Quote(taken->name));
}

// Writes the model, moves it into place if it passes the checks, and reports it; false if it fails.
Result<bool> WriteModel(const MakeImage& make, const ExportOptions& options,
                        const std::function<Result<bool>(const StagedModel&)>& is_sound,
                        ConvertReport& report) {
  constexpr int kAttempts = 5;
  for (int i = 0; i < kAttempts; ++i) {
    NN_ASSIGN(const FileImage image, ImageToWrite(make, options));
    NN_ASSIGN(StagedModel staged, StagedModel::Write(image, options.path));
    NN_ASSIGN(const bool sound, is_sound(staged));
    if (!sound) return false;
    const Status placed = staged.Commit();
    if (staged.lost_name()) continue;
    NN_RETURN_IF_ERROR(placed);
    report.written = true;
    report.bytes = image.size();
    for (const SideFile& side : image.side_files)
      if (!image.is_folder) report.side_files.emplace_back(side.name, side.size());
    return true;
  }
  return IoError("{}: other programs keep creating its side files", options.path);
}

bool WantsDump(const ConvertOptions& o) {
  return o.to.empty() ? IsDumpPath(o.output) : o.to == "json";
}

// The option that changes the model; "" if none does.
std::string_view Change(const ConvertOptions& o) {
  return !o.shapes.input_shapes.empty() ? "--input-shape"
         : o.shapes.batch               ? "--batch"
         : o.opset != 0                 ? "--opset"
         : !o.rename_inputs.empty()     ? "--rename-input"
         : !o.rename_outputs.empty()    ? "--rename-output"
         : o.fold_batch_norm            ? "--fold-batch-norm"
         : o.rewrite                    ? "--rewrite"
                                        : "";
}

Result<int> DumpModel(const ConvertOptions& o, const ReadModel& read, ConvertReport& report) {
  if (const std::string_view option = Change(o); !option.empty())
    return UsageError("{} changes the model, but a dump is a copy", option);
  if (o.dry_run) return kExitDone;
  NN_RETURN_IF_ERROR(WriteDumpOf(read, o.output, o.dump));
  report.written = true;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(o.output, error);
  if (!error) report.bytes = bytes;
  return kExitDone;
}

ExportOptions ExportOptionsOf(const ConvertOptions& o) {
  ExportOptions options = {o.output, o.opset, std::string(Version()), o.external_data};
  std::string& file = options.external_data.file;
  file = PlainRelativePath(file).value_or(file);
  return options;
}

// Writes the model in its own format.
Result<int> Copy(const ConvertOptions& o, const ReadModel& read, ConvertReport& report) {
  const auto make = [&](const ExportOptions& options) -> Result<FileImage> {
    auto image = read.format->save(*read.model, options);
    if (!image) return tl::unexpected(image.error().In(o.input));
    return image;
  };
  const ExportOptions options = ExportOptionsOf(o);
  if (o.dry_run) {
    NN_RETURN_IF_ERROR(make(options));
    return kExitDone;
  }
  NN_RETURN_IF_ERROR(WriteModel(
      make, options, [](const StagedModel&) { return true; }, report));
  return kExitDone;
}

// Frees a model that only SourceErrorOf() needs, if that can read it again.
void Release(ReadModel& read, const std::string& path) {
  std::error_code error;
  const bool lasts = path != "-" && (std::filesystem::is_regular_file(path, error) ||
                                     std::filesystem::is_directory(path, error));
  if (lasts) read.model.reset();
}

std::optional<Finding> SourceErrorOf(const ReadModel& read, const ConvertOptions& o) {
  if (read.model != nullptr) return FirstError(read);
  const auto again = ReadModelFile(o.input, o.limits);
  return again ? FirstError(*again) : std::nullopt;
}

Result<int> Convert(const ConvertOptions& o, ReadModel read, const Format& format,
                    ConvertReport& report) {
  auto imported = read.format->import(*read.model);
  if (!imported) return tl::unexpected(imported.error().In(o.input));
  Release(read, o.input);
  report.obstacles = std::move(imported->obstacles);
  Graph source = std::move(imported->graph);
  NN_RETURN_IF_ERROR(Prepare(source, o));
  const SourceSummary summary(source);
  // Only the verification runs the source.
  const bool needs_source = o.verify && !o.dry_run;
  Graph fitted = needs_source ? source.Clone() : std::move(source);
  // Shape annotations of the source file are not written.
  NN_RETURN_IF_ERROR(ForgetDeclaredShapes(fitted));
  InterfaceAxes axes;
  if (o.fold_batch_norm) {
    NN_ASSIGN(report.batch_norms_folded, FoldBatchNorms(fitted));
  }
  NN_RETURN_IF_ERROR(Fit(fitted, format, axes, report));
  if (!report.obstacles.empty()) return ExitCode(ErrorCode::kUnsupported);
  report.moved_ports = MovedPorts(summary, fitted, axes);
  report.batch_norms_written_out =
      summary.batch_norms - report.batch_norms_folded - CountOf(fitted, "batch_norm");
  const auto make = [&](const ExportOptions& options) { return format.write(fitted, options); };
  const auto source_error = [&] { return SourceErrorOf(read, o); };
  const auto is_sound = [&](const StagedModel& staged) {
    const bool last = !staged.needs_names();  // no further attempt
    if (last) fitted = Graph();
    return IsSound(staged, source_error, last ? std::move(source) : source.Clone(), axes, format, o,
                   report);
  };
  const ExportOptions options = ExportOptionsOf(o);
  if (o.dry_run) {
    NN_RETURN_IF_ERROR(make(options));
    return kExitDone;
  }
  NN_ASSIGN(const bool passed, WriteModel(make, options, is_sound, report));
  return passed ? kExitDone : kExitCheckFailed;
}

Result<int> Run(const ConvertOptions& o) {
  if (o.support) {
    NN_RETURN_IF_ERROR(WriteFile("-", SupportMarkdown()));
    return kExitDone;
  }
  if (o.input.empty()) return UsageError("IN is required; \"nnconvert --help\" lists the options");
  if (o.output.empty() && !(o.dry_run && !o.to.empty()))
    return UsageError("OUT is required, unless --dry-run and --to are given");
  const Format* format = nullptr;
  if (!WantsDump(o)) {
    NN_ASSIGN(format, TargetFormat(o));
  }
  NN_ASSIGN(ReadModel read, ReadModelFile(o.input, o.limits));
  const auto label = [](const Format& f, bool dump) {
    return dump ? fmt::format("JSON dump of {}", f.label) : std::string(f.label);
  };
  ConvertReport report;
  report.input = o.input;
  report.input_format = label(*read.format, read.from_dump);
  report.output = o.output.empty() ? "-" : o.output;
  report.output_format = format == nullptr ? label(*read.format, true) : label(*format, false);
  report.dry_run = o.dry_run;
  report.copy = format == nullptr || (format == read.format && Change(o).empty());
  NN_ASSIGN(const int code, format == nullptr ? DumpModel(o, read, report)
                            : report.copy     ? Copy(o, read, report)
                                              : Convert(o, std::move(read), *format, report));
  if (o.quiet && code == kExitDone && o.format == "text") return code;
  const std::string text = o.format == "json" ? JsonText(ConvertJson(report)) : ConvertText(report);
  if (o.output == "-" && !o.dry_run)
    std::fputs(EscapeLines(text).c_str(), stderr);  // standard output has the model
  else
    NN_RETURN_IF_ERROR(PrintText("-", text));
  return code;
}

}  // namespace
}  // namespace nn::app

int main(int argc, char** argv) {
  nn::app::CommandLine command(
      "nnconvert",
      "Converts neural-network models between formats and verifies the result by running both.");
  nn::app::ConvertOptions options;
  nn::app::AddOptions(command, options);
  command.AddMaxWork(nn::app::kVerificationWork);
  return command.Run(argc, argv, [&] {
    options.limits = command.limits();
    options.run_limits = command.run_limits();
    options.quiet = command.quiet();
    return nn::app::Run(options);
  });
}
