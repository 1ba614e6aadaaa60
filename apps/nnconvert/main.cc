// nnconvert: converts a model to another format and verifies that it computes the same.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "apps/common/command_line.h"
#include "apps/nnconvert/folder/folder.h"
#include "apps/nnconvert/graph_edits.h"
#include "apps/nnconvert/native_edits.h"
#include "apps/nnconvert/one_model.h"
#include "apps/nnconvert/options.h"
#include "apps/nnconvert/quantize_options.h"
#include "apps/nnconvert/report/attest.h"
#include "apps/nnconvert/report/c_source.h"
#include "apps/nnconvert/report/report.h"
#include "apps/nnconvert/report/report_file.h"
#include "apps/nnconvert/support.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "convert/edits/graph_edits.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

void AddFolderOptions(CLI::App& app, ConvertArguments& o) {
  app.add_option("--jobs", o.jobs,
                 "Folders: number of models to convert at the same time; they share memory and "
                 "processors; 0: one per processor; default 1")
      ->check(CLI::Range(0, 1000))
      ->type_name("N");
  app.add_flag("--force", o.force,
               "Folders: also convert models that have not changed since the last run");
  app.footer(
      app.get_footer() +
      "\n\nFolders: nnconvert DIR OUTDIR --to FORMAT converts each model below DIR to a file "
      "below OUTDIR\nwith the same relative path and the extension of the format. It is an error "
      "if two models would\nbecome one file. Hidden files are ignored, other files are counted. A "
      "failure does not stop the other\nconversions; the exit code is the worst in the order 2, 4, "
      "1, 3, 0. OUTDIR/.nnconvert.json has the\ndigests of sources and outputs "
      "(schemas/nnconvert-state.schema.json): models that have not changed\nsince they were "
      "converted with the same options are skipped.");
}

void AddHalfOptions(CommandLine& command, ConvertArguments& o) {
  CLI::App& app = command.options();
  CLI::Option* const fp16 = app.add_flag(
      "--fp16", o.fp16,
      "Compute in float16 what the model computes in float32, except operators that have no "
      "float16 form in OUT, or whose numbers are out of range in the verification. Inputs and "
      "outputs stay. The report shows the difference from the model");
  app.add_flag("--bf16", o.bf16, "The same in bfloat16")->excludes(fp16);
  app.add_flag("--weights-only", o.weights_only,
               "With --fp16, --bf16: store the weights in 16 bits, and compute in float32");
  app.add_flag("--half-interface", o.half_interface, "With --fp16, --bf16: also inputs and outputs")
      ->excludes("--weights-only");
  command
      .AddRepeated(
          "--keep-float32", o.keep_float32,
          "With --fp16, --bf16, --quantize: operators that stay in float32, with their weights: a "
          "name, the name of an output, or a type such as Softmax; * and ? match any "
          "characters; repeatable")
      ->type_name("PATTERN");
}

void AddOptions(CommandLine& command, ConvertArguments& o) {
  CLI::App& app = command.options();
  app.add_option(
      "IN", o.input,
      "Model file; a folder, or a pattern such as \"models/**/*.onnx\": all these models are "
      "converted");
  app.add_option("OUT", o.output,
                 "File to write; its extension determines the format. If that is the format of IN, "
                 "the model is copied, unless an option changes more than names. .json: a dump, "
                 "which can be read in place of the model. .c, .cc, .cpp: an array with a header, "
                 "for programs "
                 "without files. If IN is a folder: the folder to write");
  app.add_option("--to", o.to,
                 "Format to write, if the extension does not determine it; json: a dump; all, with "
                 "--dry-run: every format")
      ->type_name("FORMAT");
  AddShapeOptions(command, o.shapes);
  AddGraphEditOptions(command, o);
  command
      .AddRepeated("--fix-input", o.fixed_inputs,
                   "Make an input a constant: NAME=VALUE, a literal such as 5 or [1, 2] or a "
                   "tensor file, or an .npz or .safetensors file with several; repeatable")
      ->type_name("NAME=VALUE");
  command
      .AddRepeated(
          "--clip-input", o.clipped_inputs,
          "Clip an input to these bounds, which shows that integers stay within those that "
          "float32 represents, for formats that compute with float32; repeatable")
      ->type_name("NAME=MIN,MAX");
  app.add_option("--opset", o.opset, "ONNX operator set version to write")->type_name("N");
  command
      .AddRepeated("--rename-input", o.rename_inputs,
                   "Rename an input; repeatable. All names change at once; if nothing else changes "
                   "and OUT has "
                   "the format of IN, the model is not imported")
      ->type_name("OLD=NEW");
  command
      .AddRepeated("--rename-output", o.rename_outputs,
                   "Rename an output; repeatable; see --rename-input")
      ->type_name("OLD=NEW");
  app.add_flag("--fold-batch-norm", o.fold_batch_norm,
               "Fold batch normalizations into the weights of the preceding convolutions: faster, "
               "but rounds differently");
  app.add_flag("--fuse", o.fuse,
               "Fuse functions that exporters decompose (GELU, layer normalization, ...) into one "
               "operator wherever the format has it: faster, but rounds differently. By default, "
               "only if the format lacks an operator of the decomposition");
  CLI::Option* const simplify = app.add_flag(
      "--simplify", o.simplify,
      "Remove redundant computation: fold constants and shapes, drop dead and duplicate "
      "operators and identities, join transposes, reshapes, casts and slices. If OUT has the "
      "format of IN, its version, metadata and interface stay. Alone, it fails if an output "
      "changes a bit; with another format or arithmetic, the tolerance applies");
  app.add_flag("--allow-rounding", o.allow_rounding,
               "With --simplify: also --fold-batch-norm and --fuse; outputs may differ within the "
               "tolerance")
      ->needs(simplify);
  app.add_option(
         "--unroll", o.unroll,
         "Recurrent layers that the format cannot hold: write up to N time steps one by one "
         "(without it, 256 over both directions), and set a number of steps that the model "
         "leaves open to N")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, kMaxUnroll));
  app.add_flag("--dequantize", o.dequantize,
               "Convert a quantized model as a float model: quantized weights, inputs and outputs "
               "become float32; the report shows the difference from the quantized model");
  app.add_flag("--float32", o.float32,
               "Compute in float32 what the model computes in float16, bfloat16 or float64: "
               "constants, inputs and outputs become float32; the report shows the difference from "
               "the model");
  AddHalfOptions(command, o);
  AddQuantizeOptions(command, o);
  AddNativeEditOptions(command, o);
  app.add_flag(
      "--states", o.states,
      "TensorFlow Lite: the states of layers become inputs and outputs of OUT, and so do resource "
      "variables, as in other formats; without it, states of layers begin each run anew");
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
  app.add_option("--c-name", o.c_source.name,
                 "If OUT is a C or C++ file: the name of the array; by default, that of the file")
      ->type_name("NAME");
  app.add_option("--c-section", o.c_source.section, "The section of the array")->type_name("NAME");
  app.add_option("--c-align", o.c_source.alignment, "The alignment of the array")
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_flag("--infer-shapes", o.infer_shapes,
               "State the inferred types and shapes of all values in the ONNX file (value_info)");
  app.add_flag("--dry-run", o.dry_run,
               "Write nothing; list all operators that cannot be converted (exit code 3 if any)");
  app.add_flag("--support", o.support,
               "Print which operators are read, written and executed, as Markdown");
  app.add_flag_callback(
      "--no-verify", [&o] { o.verify = false; }, "Do not run both models to compare their outputs");
  app.add_option("--seed", o.seed, "Seed of the first verification run's inputs")
      ->capture_default_str();
  app.add_option("--verify-runs", o.verify_runs, "Verification runs, each with the next seed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--threads", o.threads,
                 "Number of threads of a run; 0: one per processor. No output depends on it")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  command
      .AddRepeated("--verify-shape", o.verify_shapes,
                   "Shape of an input for the verification only; repeatable")
      ->type_name("NAME:SHAPE");
  CLI::Option* const verify_inputs =
      command
          .AddRepeated(
              "--verify-inputs", o.verify_inputs,
              "Run the verification on these inputs instead of generated ones: an .npz or "
              ".safetensors file by name, or in_0, in_1, ... by position; a folder of such "
              "files or of tensor files; NAME=FILE; repeatable")
          ->type_name("FILE");
  AddArrayOptions(command, o.arrays, "With --verify-inputs: ");
  for (const char* option : {"--cast-inputs", "--reshape-inputs"})
    app.get_option(option)->needs(verify_inputs);
  app.add_option("--atol", o.atol, "Largest absolute difference of a float output")
      ->check(RealNumber())
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option(
         "--rtol", o.rtol,
         "Largest difference relative to the output's largest magnitude; quantized outputs may "
         "differ by one step more")
      ->check(RealNumber())
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
  app.add_option("--attest", o.attest,
                 "Also write how OUT was made, as an in-toto statement (SLSA provenance): digests "
                 "of all files, version, options and verification. \"nnvalidate --attestation\" "
                 "checks it; tools such as cosign sign it")
      ->type_name("FILE");
  AddFolderOptions(app, o);
}

template <typename Report>
Status Print(const ConvertArguments& o, const Report& report) {
  const std::string text = o.format == "json" ? JsonText(ReportJson(report)) : ReportText(report);
  if (o.output != "-" || o.dry_run) return PrintText("-", text);
  std::fputs(EscapeLines(text).c_str(), stderr);  // standard output has the model
  return {};
}

// Writes the file of --report and prints the report; returns the exit code.
template <typename Report>
Result<int> Deliver(const ConvertArguments& o, const Report& report, ReportFile& file) {
  NN_RETURN_IF_ERROR(file.Write(report));
  const int code = ReportCode(report);
  if (!o.quiet || code != kExitDone || o.format != "text") NN_RETURN_IF_ERROR(Print(o, report));
  return code;
}

Status Convert(const ConvertArguments& o, ReportFile& file, ConvertReport& report) {
  const Format* format = nullptr;
  if (!WantsDump(o) && !(IsCSourcePath(o.output) && o.to.empty())) {
    NN_ASSIGN(format, TargetFormat(o));
  }
  NN_RETURN_IF_ERROR(file.Open());
  return IsCSourcePath(o.output) ? ConvertToSource(o, format, report)
                                 : ConvertOne(o, format, report);
}

// The files that a run may write and that did not exist before.
class NewFiles {
 public:
  explicit NewFiles(const ConvertArguments& o) {
    std::error_code error;
    if (!o.dump.file.empty()) side_files_.push_back(o.dump.file);
    folder_ = fs::absolute(o.output, error).parent_path();
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
      before_.insert(it->path().filename().string());
    for (const std::string& path : {o.report, o.attest}) {
      if (path.empty()) continue;
      reports_.push_back(path);
      replaces_ = replaces_ || fs::exists(path, error);
    }
  }

  // Removes them: a run that fails leaves nothing. If any replaced another one, all stay, because
  // the files of a run belong together.
  void Remove(const ConvertReport& report) const {
    std::vector<std::string> names;
    if (report.written && report.output != "-") {
      names.push_back(fs::path(report.output).filename().string());
      if (!report.c_header.empty()) names.push_back(report.c_header);
      // A side file may be in a folder of its own.
      const auto add = [&](const std::string& name) {
        if (!name.empty()) names.push_back(fs::path(name).begin()->string());
      };
      std::ranges::for_each(side_files_, add);
      if (report.conversion.written)
        for (const auto& [name, bytes] : report.conversion.written->side_files) add(name);
    }
    const auto existed = [&](const std::string& name) { return before_.contains(name); };
    if (replaces_ || std::ranges::any_of(names, existed)) return;
    std::error_code ignored;
    for (const std::string& path : reports_) fs::remove(path, ignored);
    for (const std::string& name : names) fs::remove_all(folder_ / name, ignored);
  }

 private:
  fs::path folder_;
  std::set<std::string> before_;
  std::vector<std::string> side_files_;  // of a dump
  std::vector<std::string> reports_;
  bool replaces_ = false;  // a report
};

Result<int> RunOne(const ConvertArguments& o, ReportFile& file) {
  ConvertReport report;
  report.input = o.input;
  report.output = o.output;
  const NewFiles added(o);
  const Status done = Convert(o, file, report);
  if (done) {
    const Status attested = WriteAttestation(o, report);
    auto code = attested ? Deliver(o, report, file) : tl::unexpected(attested.error());
    if (!code) added.Remove(report);
    return code;
  }
  report.error = done.error();
  // Usage and file errors say nothing about the model.
  if (ReportCode(report) != ExitCode(ErrorCode::kUsage)) NN_RETURN_IF_ERROR(file.Write(report));
  if (o.format == "json") NN_RETURN_IF_ERROR(Print(o, report));
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

bool IsSamePath(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::weakly_canonical(a, error) == std::filesystem::weakly_canonical(b, error);
}

Status CheckHalfUsage(const ConvertArguments& o) {
  if (o.fp16 || o.bf16) return {};
  if (o.weights_only || o.half_interface)
    return UsageError("{} requires --fp16 or --bf16",
                      o.weights_only ? "--weights-only" : "--half-interface");
  if (!o.keep_float32.empty() && o.quantize.empty())
    return UsageError("--keep-float32 requires --fp16, --bf16 or --quantize");
  return {};
}

Result<int> Run(const ConvertArguments& o) {
  if (o.support) {
    NN_RETURN_IF_ERROR(WriteFile("-", SupportMarkdown()));
    return kExitDone;
  }
  if (o.input.empty()) return UsageError("IN is required; \"nnconvert --help\" lists the options");
  NN_RETURN_IF_ERROR(CheckHalfUsage(o));
  NN_RETURN_IF_ERROR(CheckQuantizeUsage(o));
  NN_RETURN_IF_ERROR(CheckGraphEdits(o.graph_edits, o.shapes.batch));
  NN_RETURN_IF_ERROR(CheckAttest(o));
  if (o.output.empty() && !(o.dry_run && !o.to.empty()))
    return UsageError("OUT is required, unless --dry-run and --to are given");
  NN_ASSIGN(ReportFile file, ReportFile::At(o.report));
  for (const std::string& path : {o.report, o.attest})
    if (!path.empty() && (IsSamePath(path, o.input) || IsSamePath(path, o.output)))
      return UsageError("{} {} is the input or output model; choose another file",
                        path == o.report ? "--report" : "--attest", path);
  if (IsFolderOfModels(o.input) && !o.attest.empty())
    return UsageError("--attest is for one model, but {} matches several", o.input);
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
  command.AddRunLimits(nn::app::kVerificationWork);
  return command.Run(argc, argv, [&] {
    arguments.limits = command.limits();
    arguments.run_limits = command.run_limits();
    arguments.quiet = command.quiet();
    nn::app::SeparateSymbolShapes(arguments);
    arguments.digests =
        arguments.format == "json" || !arguments.report.empty() || !arguments.attest.empty();
    arguments.given = command.GivenOptions();
    return nn::app::Run(arguments);
  });
}
