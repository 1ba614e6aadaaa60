// nnconvert: converts a model to another format and verifies that it computes the same.
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "apps/common/command_line.h"
#include "apps/common/port_arrays.h"
#include "apps/common/progress.h"
#include "apps/nnconvert/options.h"
#include "apps/nnconvert/report.h"
#include "apps/nnconvert/support.h"
#include "base/file.h"
#include "base/text.h"
#include "convert/convert.h"
#include "passes/ports.h"

namespace nn::app {
namespace {

void AddOptions(CommandLine& command, ConvertArguments& o) {
  CLI::App& app = command.options();
  app.add_option("IN", o.input, "Model file");
  app.add_option(
      "OUT", o.output,
      "File to write; its extension determines the format. The format of IN: a copy, unless an "
      "option changes more than names. .json: a dump, which can be read in place of the model");
  app.add_option("--to", o.to,
                 "Format to write, if the extension does not determine it; json: a dump; all, with "
                 "--dry-run: every format")
      ->type_name("FORMAT");
  AddShapeOptions(command, o.shapes);
  app.add_option("--opset", o.opset, "ONNX operator set version to write")->type_name("N");
  command
      .AddRepeated("--rename-input", o.rename_inputs,
                   "Rename an input; repeatable. All names change at once; if nothing else changes "
                   "and OUT has "
                   "the format of IN, the model is not imported")
      ->type_name("OLD=NEW");
  command
      .AddRepeated("--rename-output", o.rename_outputs,
                   "Rename an output; repeatable; as --rename-input")
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
  command
      .AddRepeated("--verify-inputs", o.verify_inputs,
                   "Run the verification on these inputs instead of generated ones: an .npz or "
                   ".safetensors file by name, or in_0, in_1, ... by position; a folder of such "
                   "files or of tensor files; NAME=FILE; repeatable")
      ->type_name("FILE");
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
  if ((!o.external_data.file.empty() || o.external_data.embed) && !format->external_data)
    return UsageError("{} is for ONNX and NNAPI; the output is {}",
                      o.external_data.embed ? "--embed-data" : "--external-data", format->label);
  return format;
}

// Sets the new names in `renamed`, by the present names.
Status Rename(const std::vector<std::string>& renames, const std::vector<std::string>& names,
              std::vector<std::string>& renamed) {
  std::vector<bool> done(names.size());
  for (const std::string& text : renames) {
    NN_ASSIGN(const Assignment a, SplitAssignment(text, names));
    if (a.value.empty()) return UsageError("{}: the new name is empty", Quote(text));
    if (!IsUtf8(a.value)) return UsageError("{}: the new name is not UTF-8", Quote(text));
    if (done[a.port])
      return UsageError("{}: {} is renamed twice", Quote(text), Quote(names[a.port]));
    done[a.port] = true;
    renamed[a.port] = a.value;
  }
  return {};
}

// The names after --rename-input and --rename-output, which all apply at once. Different names must
// stay different, also those of inputs and outputs.
Result<PortNames> NewNames(const ConvertArguments& o, const PortNames& names) {
  PortNames renamed = names;
  NN_RETURN_IF_ERROR(Rename(o.rename_inputs, names.inputs, renamed.inputs));
  NN_RETURN_IF_ERROR(Rename(o.rename_outputs, names.outputs, renamed.outputs));
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

// Applies the options that change the graph for every format.
Status Prepare(Graph& graph, const ConvertArguments& o) {
  NN_RETURN_IF_ERROR(BindShapes(graph, o.shapes));
  NN_ASSIGN(PortNames names, NewNames(o, {NamesOf(graph.inputs()), NamesOf(graph.outputs())}));
  for (size_t i = 0; i < names.inputs.size(); ++i) graph.RenameInput(i, std::move(names.inputs[i]));
  for (size_t i = 0; i < names.outputs.size(); ++i)
    graph.RenameOutput(i, std::move(names.outputs[i]));
  return {};
}

bool WantsDump(const ConvertArguments& o) {
  return o.to.empty() ? IsDumpPath(o.output) : o.to == "json";
}

// The option that changes the graph; "" if none does.
std::string_view GraphChange(const ConvertArguments& o) {
  return !o.shapes.input_shapes.empty() ? "--input-shape"
         : o.shapes.batch               ? "--batch"
         : o.opset != 0                 ? "--opset"
         : o.fold_batch_norm            ? "--fold-batch-norm"
         : o.rewrite                    ? "--rewrite"
                                        : "";
}

// The option that changes names; "" if none does.
std::string_view NameChange(const ConvertArguments& o) {
  return !o.rename_inputs.empty()    ? "--rename-input"
         : !o.rename_outputs.empty() ? "--rename-output"
                                     : "";
}

Result<int> DumpModel(const ConvertArguments& o, const ReadModel& read, ConvertReport& report) {
  for (const std::string_view option : {GraphChange(o), NameChange(o)})
    if (!option.empty()) return UsageError("{} changes the model, but a dump is a copy", option);
  if (o.dry_run) return kExitDone;
  NN_RETURN_IF_ERROR(WriteDumpOf(read, o.output, o.dump));
  report.written = true;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(o.output, error);
  if (!error) report.bytes = bytes;
  return kExitDone;
}

// The progress of a verification.
class ShownRuns {
 public:
  void Update(uint64_t done, uint64_t total) {
    if (done == 0)
      progress_.emplace("verification runs", total);
    else
      progress_->Step();
    if (done == total) progress_.reset();
  }

 private:
  std::optional<Progress> progress_;
};

ConvertOptions OptionsOf(const ConvertArguments& a, ShownRuns& runs) {
  ConvertOptions o;
  o.input = a.input;
  o.limits = a.limits;
  o.output = {a.output, a.opset, std::string(Version()), a.external_data};
  o.prepare = [&a](Graph& graph) { return Prepare(graph, a); };
  o.fold_batch_norm = a.fold_batch_norm;
  o.dry_run = a.dry_run;
  o.other_name = SayOtherName;
  o.verify = a.verify;
  o.verification.seed = a.seed;
  o.verification.runs = a.verify_runs;
  o.verification.atol = a.atol;
  o.verification.rtol = a.rtol;
  o.verification.limits = a.run_limits;
  o.verification.prepare = [&a](Graph& source) {
    return BindShapes(source, ShapeOptions{a.verify_shapes, std::nullopt});
  };
  if (!a.verify_inputs.empty())
    o.verification.data = [&a](const Graph& source) {
      return ReadInputSets(a.verify_inputs, source.inputs(), a.limits);
    };
  o.verification.progress = [&runs](uint64_t done, uint64_t total) { runs.Update(done, total); };
  return o;
}

Result<Conversion> Copy(const ConvertArguments& a, const ReadModel& read,
                        const ConvertOptions& options) {
  if (NameChange(a).empty()) return CopyModel(read, options);
  NN_ASSIGN(const PortNames names, read.format->port_names(*read.model));
  NN_ASSIGN(const PortNames renamed, NewNames(a, names));
  return RenameModel(read, renamed, options);
}

Result<int> Convert(const ConvertArguments& a, ReadModel read, const Format& format,
                    ConvertReport& report) {
  ShownRuns runs;
  const ConvertOptions options = OptionsOf(a, runs);
  NN_ASSIGN(report.conversion,
            report.copy ? Copy(a, read, options) : ConvertModel(std::move(read), format, options));
  const Conversion& c = report.conversion;
  report.written = c.written.has_value();
  if (c.written) report.bytes = c.written->bytes;
  if (!c.unsupported.empty()) return ExitCode(ErrorCode::kUnsupported);
  return c.verification && !c.verification->passed ? kExitCheckFailed : kExitDone;
}

// What each format can hold of the model. Exit code 3 if one of them lacks something.
Result<int> DryRunForAll(const ConvertArguments& o) {
  NN_ASSIGN(ReadModel read, ReadModelFile(o.input, o.limits));
  NN_ASSIGN(const ImportedModel imported, read.format->import(*read.model));
  ShownRuns runs;
  const ConvertOptions options = OptionsOf(o, runs);
  std::vector<ConvertReport> targets;
  bool all_fit = true;
  for (const Format& format : Formats()) {
    if (format.write == nullptr) continue;
    ConvertReport r;
    r.input = o.input;
    r.input_format = read.format->label;
    r.output = "-";
    r.output_format = format.label;
    r.dry_run = true;
    r.copy = &format == read.format;
    if (!r.copy) {
      auto done = ConvertGraph(
          {imported.graph.Clone(), imported.unsupported}, [] { return std::nullopt; }, format,
          options);
      if (done)
        r.conversion = *std::move(done);
      else if (done.error().code() == ErrorCode::kUnsupported)
        r.error = done.error();
      else
        return tl::unexpected(done.error());
      all_fit = all_fit && !r.error && r.conversion.unsupported.empty();
    }
    targets.push_back(std::move(r));
  }
  NN_RETURN_IF_ERROR(
      PrintText("-", o.format == "json" ? JsonText(TargetsJson(targets)) : TargetsText(targets)));
  return all_fit ? kExitDone : ExitCode(ErrorCode::kUnsupported);
}

Result<int> Run(const ConvertArguments& o) {
  if (o.support) {
    NN_RETURN_IF_ERROR(WriteFile("-", SupportMarkdown()));
    return kExitDone;
  }
  if (o.input.empty()) return UsageError("IN is required; \"nnconvert --help\" lists the options");
  if (o.output.empty() && !(o.dry_run && !o.to.empty()))
    return UsageError("OUT is required, unless --dry-run and --to are given");
  if (o.to == "all") {
    if (!o.dry_run) return UsageError("--to all requires --dry-run");
    if (o.opset != 0) return UsageError("--opset is for ONNX alone, not for --to all");
    return DryRunForAll(o);
  }
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
  report.copy = format == nullptr || (format == read.format && GraphChange(o).empty());
  report.renamed = report.copy && !NameChange(o).empty();
  NN_ASSIGN(const int code, format == nullptr ? DumpModel(o, read, report)
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
  nn::app::ConvertArguments arguments;
  nn::app::AddOptions(command, arguments);
  command.AddMaxWork(nn::app::kVerificationWork);
  return command.Run(argc, argv, [&] {
    arguments.limits = command.limits();
    arguments.run_limits = command.run_limits();
    arguments.quiet = command.quiet();
    return nn::app::Run(arguments);
  });
}
