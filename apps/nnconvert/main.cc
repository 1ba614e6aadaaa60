// nnconvert: converts a model to another format and verifies that it computes the same.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "apps/common/command_line.h"
#include "apps/nnconvert/folder.h"
#include "apps/nnconvert/one_model.h"
#include "apps/nnconvert/options.h"
#include "apps/nnconvert/quantize_options.h"
#include "apps/nnconvert/report/attest.h"
#include "apps/nnconvert/report/c_source.h"
#include "apps/nnconvert/report/report.h"
#include "apps/nnconvert/report/report_file.h"
#include "apps/nnconvert/support.h"
#include "base/file/file.h"
#include "base/options.h"
#include "base/text/text.h"
#include "convert/convert_options.h"
#include "folder/folder.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

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
  command.AddDescribed(ArgumentTable(), &o);
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

template <typename Report>
Status Print(const ConvertArguments& o, const Report& report) {
  const std::string text = o.form == "json" ? JsonText(ReportJson(report)) : ReportText(report);
  if (o.output != "-" || o.dry_run) return PrintText("-", text);
  std::fputs(EscapeLines(text).c_str(), stderr);  // standard output has the model
  return {};
}

// Writes the file of --report and prints the report; returns the exit code.
template <typename Report>
Result<int> Deliver(const ConvertArguments& o, const Report& report, ReportFile& file) {
  NN_RETURN_IF_ERROR(file.Write(report));
  const int code = ReportCode(report);
  if (!o.quiet || code != kExitDone || o.form != "text") NN_RETURN_IF_ERROR(Print(o, report));
  return code;
}

Status Convert(const ConvertArguments& o, ReportFile& file, ConvertReport& report) {
  const Format* format = nullptr;
  if (!WantsDump(o) && !(IsCSourcePath(o.output) && o.format.empty())) {
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
  const std::optional<GraphDigests> source = HashSource(o);
  const Status done = Convert(o, file, report);
  if (done) {
    const Status attested = WriteAttestation(o, source, report);
    auto code = attested ? Deliver(o, report, file) : tl::unexpected(attested.error());
    if (!code) added.Remove(report);
    return code;
  }
  report.error = done.error();
  // Usage and file errors say nothing about the model.
  if (ReportCode(report) != ExitCode(ErrorCode::kUsage)) NN_RETURN_IF_ERROR(file.Write(report));
  if (o.form == "json") NN_RETURN_IF_ERROR(Print(o, report));
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

Result<int> Run(const ConvertArguments& o) {
  if (o.support) {
    NN_RETURN_IF_ERROR(WriteFile("-", SupportMarkdown()));
    return kExitDone;
  }
  if (o.input.empty()) return UsageError("IN is required; \"nnconvert --help\" lists the options");
  NN_RETURN_IF_ERROR(CheckConvertOptions(o, *FindFormat("onnx")));
  NN_RETURN_IF_ERROR(CheckSamples(o));
  NN_RETURN_IF_ERROR(CheckAttest(o));
  if (o.output.empty() && !(o.dry_run && !o.format.empty()))
    return UsageError("OUT is required, unless --dry-run and --to are given");
  NN_ASSIGN(ReportFile file, ReportFile::At(o.report));
  for (const std::string& path : {o.report, o.attest})
    if (!path.empty() && (IsSamePath(path, o.input) || IsSamePath(path, o.output)))
      return UsageError("{} {} is the input or output model; choose another file",
                        path == o.report ? "--report" : "--attest", path);
  if (IsFolderOfModels(o.input) && !o.attest.empty())
    return UsageError("--attest is for one model, but {} matches several", o.input);
  if (IsFolderOfModels(o.input)) return RunFolder(o, file);
  for (const char* const option : {"--jobs", "--force"})
    if (o.given.contains(option))
      return UsageError("{} is for folders, but {} is one model", option, o.input);
  return o.format == "all" ? RunForAll(o, file) : RunOne(o, file);
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
  return command.Run(argc, argv, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(command.TakeOptions());
    arguments.limits = command.limits();
    arguments.verification.limits = command.run_limits();
    arguments.quiet = command.quiet();
    NN_RETURN_IF_ERROR(nn::app::SetSeededSamples(arguments));
    arguments.digests =
        arguments.form == "json" || !arguments.report.empty() || !arguments.attest.empty();
    arguments.given = command.GivenOptions();
    return nn::app::Run(arguments);
  });
}
