// nnconvert: converts a model to another format and verifies that it computes the same.
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "apps/common/command_line.h"
#include "apps/nnconvert/folder.h"
#include "apps/nnconvert/one_model.h"
#include "apps/nnconvert/options.h"
#include "apps/nnconvert/report.h"
#include "apps/nnconvert/report_file.h"
#include "apps/nnconvert/support.h"
#include "base/file.h"
#include "base/text.h"

namespace nn::app {
namespace {

void AddFolderOptions(CLI::App& app, ConvertArguments& o) {
  app.add_option("--jobs", o.jobs,
                 "Folders: conversions at the same time, which share memory and processors; 0: one "
                 "per processor; default 1")
      ->check(CLI::Range(0, 1000))
      ->type_name("N");
  app.add_flag("--force", o.force,
               "Folders: also convert models that have not changed since the last run");
  app.footer(
      app.get_footer() +
      "\n\nFolders: nnconvert DIR OUTDIR --to FORMAT converts each model below DIR to a file "
      "below OUTDIR\nwith the same relative path and the extension of the format. Two models "
      "that would become one\nfile are an error. Hidden files are ignored, other files are "
      "counted. A failure does not stop the\nrest; the exit code is the worst in the order 2, "
      "4, 1, 3, 0. OUTDIR/.nnconvert.json has the\ndigests of sources and outputs "
      "(schemas/nnconvert-state.schema.json): models that have not changed\nsince they were "
      "converted with the same options are skipped.");
}

void AddOptions(CommandLine& command, ConvertArguments& o) {
  CLI::App& app = command.options();
  app.add_option("IN", o.input, "Model file, or a folder: all models below it are converted");
  app.add_option(
      "OUT", o.output,
      "File to write; its extension determines the format. The format of IN: a copy, unless an "
      "option changes the model. .json: a dump, which can be read in place of the model. For a "
      "folder IN: the folder to write");
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
  app.add_flag("--dequantize", o.dequantize,
               "Convert a quantized model as a float model: quantized weights, inputs and outputs "
               "become float32; the report says how far it is from the quantized model");
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
  app.add_option("--format", o.format, "Form of the printed report")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("--report", o.report,
                 "Also write a full report: files with digests, inputs and outputs, rewritten "
                 "operators, transposes, verification. The extension determines the form: .json, "
                 ".md or .html")
      ->type_name("FILE");
  AddFolderOptions(app, o);
}

// Writes the file of --report and prints the report; returns the exit code.
template <typename Report>
Result<int> Deliver(const ConvertArguments& o, const Report& report, ReportFile& file) {
  NN_RETURN_IF_ERROR(file.Write(report));
  const int code = ReportCode(report);
  if (o.quiet && code == kExitDone && o.format == "text") return code;
  const std::string text = o.format == "json" ? JsonText(ReportJson(report)) : ReportText(report);
  if (o.output == "-" && !o.dry_run)
    std::fputs(EscapeLines(text).c_str(), stderr);  // standard output has the model
  else
    NN_RETURN_IF_ERROR(PrintText("-", text));
  return code;
}

Result<int> RunOne(const ConvertArguments& o, ReportFile& file) {
  const Format* format = nullptr;
  if (!WantsDump(o)) {
    NN_ASSIGN(format, TargetFormat(o));
  }
  NN_RETURN_IF_ERROR(file.Open());
  ConvertReport report;
  const Status done = ConvertOne(o, format, report);
  if (done) return Deliver(o, report, file);
  report.error = done.error();
  // Errors of usage and files say nothing about the model.
  if (ReportCode(report) != ExitCode(ErrorCode::kUsage)) NN_RETURN_IF_ERROR(file.Write(report));
  return tl::unexpected(done.error());
}

Result<int> RunForAll(const ConvertArguments& o, ReportFile& file) {
  if (!o.dry_run) return UsageError("--to all requires --dry-run");
  if (o.opset != 0) return UsageError("--opset is for ONNX alone, not for --to all");
  NN_RETURN_IF_ERROR(file.Open());
  NN_ASSIGN(const TargetsReport report, DryRunForAll(o));
  return Deliver(o, report, file);
}

Result<int> RunFolder(const ConvertArguments& o, ReportFile& file) {
  NN_ASSIGN(const FolderReport report, ConvertFolder(o, file));
  return Deliver(o, report, file);
}

// The option that changes the model; "" if none does.
std::string_view Change(const ConvertArguments& o) {
  return !o.shapes.input_shapes.empty() ? "--input-shape"
         : o.shapes.batch               ? "--batch"
         : o.opset != 0                 ? "--opset"
         : !o.rename_inputs.empty()     ? "--rename-input"
         : !o.rename_outputs.empty()    ? "--rename-output"
         : o.fold_batch_norm            ? "--fold-batch-norm"
         : o.dequantize                 ? "--dequantize"
         : o.rewrite                    ? "--rewrite"
                                        : "";
}

Result<int> DumpModel(const ConvertArguments& o, const ReadModel& read, ConvertReport& report) {
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
  o.dequantize = a.dequantize;
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

Result<int> Convert(const ConvertArguments& a, ReadModel read, const Format& format,
                    ConvertReport& report) {
  ShownRuns runs;
  const ConvertOptions options = OptionsOf(a, runs);
  NN_ASSIGN(report.conversion, report.copy ? CopyModel(read, options)
                                           : ConvertModel(std::move(read), format, options));
  const Conversion& c = report.conversion;
  report.written = c.written.has_value();
  if (c.written) report.bytes = c.written->bytes;
  if (!c.unsupported.empty()) return ExitCode(ErrorCode::kUnsupported);
  return c.verification && !c.verification->passed ? kExitCheckFailed : kExitDone;
}

// What each format can hold of the model. Exit code 3 if one of them lacks something.
Result<int> DryRunForAll(const ConvertArguments& o) {
  NN_ASSIGN(ReadModel read, ReadModelFile(o.input, o.limits));
  ShownRuns runs;
  const ConvertOptions options = OptionsOf(o, runs);
  NN_ASSIGN(const ImportedModel imported, ImportForConversion(read, options));
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
    r.copy = &format == read.format && Change(o).empty();
    if (!r.copy) {
      auto done = ConvertGraph(
          {imported.graph.Clone(), imported.unsupported, imported.hybrids},
          [] { return std::nullopt; }, format, options);
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
  NN_ASSIGN(ReportFile file, ReportFile::At(o.report));
  if (!o.report.empty() && (IsSamePath(o.report, o.input) || IsSamePath(o.report, o.output)))
    return UsageError("--report {}: is the file of a model", o.report);
  if (IsFolderOfModels(o.input)) return RunFolder(o, file);
  if (o.jobs || o.force)
    return UsageError("{} is for folders, but {} is one model", o.jobs ? "--jobs" : "--force",
                      o.input);
  return o.to == "all" ? RunForAll(o, file) : RunOne(o, file);
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
    arguments.digests = arguments.format == "json" || !arguments.report.empty();
    return nn::app::Run(arguments);
  });
}
