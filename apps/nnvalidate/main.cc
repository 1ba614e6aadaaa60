// nnvalidate: checks model files against their formats' rules.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <mutex>

#include "apps/common/command_line.h"
#include "apps/common/described_options.h"
#include "apps/common/progress.h"
#include "apps/nnvalidate/config.h"
#include "apps/nnvalidate/outputs.h"
#include "apps/nnvalidate/rules_text.h"
#include "base/file/file.h"
#include "base/thread_pool.h"
#include "check/attestation.h"
#include "check/baseline.h"
#include "check/check.h"
#include "check/check_options.h"
#include "formats/format.h"
#include "formats/model_list.h"
#include "validators/assertions.h"
#include "validators/report.h"
#include "validators/runner.h"
#include "validators/targets.h"
#include "validators/validate_options.h"

namespace nn::app {
namespace {

struct ValidateArguments {
  std::vector<std::string> models;
  std::string output = "-";
  std::string format = "text";
  std::vector<std::string> reports;
  OptionValues checks;  // of CheckOptionTable()
  OptionValues rules;   // of ValidateOptionTable()
  std::vector<std::string> exclude;
  std::string config;
  bool no_config = false;
  std::string write_baseline;
  OptionValues assertions;  // of AssertionTable()
  size_t jobs = 0;
  bool list_rules = false;
  std::string explain;
};

std::vector<std::string_view> Formats() {
  const auto names = ReportFormats();
  std::vector<std::string_view> formats(names.begin(), names.end());
  formats.emplace_back("markdown");
  return formats;
}

// What the program calls the members, and what they do.
OptionTable ArgumentTable() {
  static const std::vector<OptionField> fields = {
      Option<&ValidateArguments::format>(
          "format", {.help = "Format of the report; markdown is for --list-rules only",
                     .choices = Formats(),
                     .shows_default = true}),
      Option<&ValidateArguments::output>(
          "output", {.help = "Write the report to this file", .value = "FILE", .letter = "o"}),
      Option<&ValidateArguments::reports>(
          "report", {.help = "Also write a report: text, json, sarif, junit, github or gitlab; "
                             "repeatable",
                     .value = "FORMAT=FILE"}),
      Option<&ValidateArguments::exclude>(
          "exclude", {.help = "Skip the files that the pattern matches in folders and patterns; "
                              "repeatable",
                      .value = "PATTERN"}),
      Option<&ValidateArguments::config>(
          "config", {.help = "Use this configuration for all models, instead of the nearest "
                             ".nnvalidate.json of each",
                     .value = "FILE"}),
      Option<&ValidateArguments::no_config>(
          "no-config", {.help = "Read no configuration", .excludes = {"config"}}),
      Option<&ValidateArguments::write_baseline>(
          "write-baseline",
          {.help = "Write all findings to a file for --baseline, and exit with code 0",
           .value = "FILE"}),
      Option<&ValidateArguments::list_rules>("list-rules",
                                             {.help = "Print the rules that the options select"}),
      Option<&ValidateArguments::explain>(
          "explain",
          {.help = "Print the description of a rule, assertion or target, with an example",
           .value = "ID"}),
      Option<&ValidateArguments::jobs>(
          "jobs", {.help = "Number of files to check in parallel; 0 for the number of processors",
                   .value = "N",
                   .shows_default = true,
                   .letter = "j"}),
  };
  return fields;
}

void AddOptions(CommandLine& command, ValidateArguments& a) {
  CLI::App& app = command.options();
  app.add_option("MODEL", a.models,
                 "Model files, folders, and patterns such as \"models/**/*.onnx\"");
  command.AddDescribed(ArgumentTable(), &a);
  AddDescribedOptions(app, ValidateOptionTable(), a.rules);
  AddDescribedOptions(app, CheckOptionTable(), a.checks);
  app.get_option("--write-baseline")->excludes(app.get_option("--baseline"));
  AddDescribedOptions(
      *app.add_option_group("Assertions",
                            "Requirements beyond the formats' rules; a violation is an error"),
      AssertionTable(), a.assertions);
}

// The report names the file itself.
Error WithoutPrefix(const Error& error, std::string_view prefix) {
  const std::string& message = error.message();
  return message.starts_with(prefix) ? Error(error.code(), message.substr(prefix.size())) : error;
}

// Checks one file. A file that is not a valid model is a finding; an error means that the file
// could not be accessed.
Status CheckFile(const FileOptions& options, const std::optional<Attestation>& attestation,
                 bool fingerprints, const ReadLimits& limits, FileReport& file) {
  const auto read = ReadModelFile(file.path, limits);
  if (read) {
    file.format = read->format->label;
    const ModelChecks checks = {.rules = options.rules,
                                .assertions = options.assertions,
                                .targets = options.targets,
                                .attestation = attestation ? &*attestation : nullptr,
                                .fingerprints = fingerprints};
    NN_ASSIGN(file.findings, FindingsOf(*read, file.path, limits, checks));
  } else if (const ErrorCode code = read.error().code();
             code == ErrorCode::kParse || code == ErrorCode::kModel) {
    file.findings = {
        UnreadableFile(WithoutPrefix(read.error(), file.path + ": "), FormatOfPath(file.path))};
  } else {
    return tl::unexpected(read.error());
  }
  for (Finding& f : file.findings) f.location.file = file.path;
  return {};
}

// Checks the files of the report in parallel; returns the status of each.
std::vector<Status> CheckFiles(const std::vector<FileOptions>& options,
                               const std::optional<Attestation>& attestation, bool fingerprints,
                               const ReadLimits& limits, size_t jobs, Report& report) {
  std::vector<Status> results(report.files.size());
  Progress progress("files", report.files.size());
  std::mutex mutex;
  const size_t most = jobs != 0 ? jobs : AvailableProcessors();
  ThreadPool pool(std::clamp<size_t>(report.files.size(), 1, most));
  pool.ParallelFor(report.files.size(), [&](size_t i) {
    try {
      results[i] = CheckFile(options[i], attestation, fingerprints, limits, report.files[i]);
    } catch (const std::bad_alloc&) {
      results[i] = LimitError("{}: out of memory (see max-memory)", report.files[i].path);
    } catch (const std::exception& e) {
      results[i] = InternalError("{}: {}", report.files[i].path, e.what());
    }
    const std::lock_guard lock(mutex);
    progress.Step();
  });
  return results;
}

Result<int> PrintRules(const ValidateArguments& a, const Configs& configs) {
  if (a.format == "markdown" && a.explain.empty()) {
    NN_RETURN_IF_ERROR(WriteFile(a.output, RulesMarkdown()));
    return kExitDone;
  }
  if (a.format != "text" && a.format != "json")
    return UsageError("{} prints text{}, not {}", a.explain.empty() ? "--list-rules" : "--explain",
                      a.explain.empty() ? ", json or markdown" : " or json", a.format);
  const bool json = a.format == "json";
  std::string text;
  if (a.explain.empty()) {
    text = RuleList(configs.Rules(), json);
  } else {
    NN_ASSIGN(text, ExplainRule(a.explain, json));
  }
  NN_RETURN_IF_ERROR(WriteFile(a.output, text));
  return kExitDone;
}

Result<CommandLineOptions> OptionsOf(const ValidateArguments& a,
                                     const nnsuite::CheckOptions& checks) {
  CommandLineOptions out;
  NN_RETURN_IF_ERROR(SetOptions(AssertionTable(), a.assertions, kOnCommandLine, &out.assertions));
  NN_RETURN_IF_ERROR(CheckUsage(out.assertions));
  NN_RETURN_IF_ERROR(SetOptions(ValidateOptionTable(), a.rules, kOnCommandLine, &out.rules));
  out.has_profile = a.rules.contains("profile");
  if (a.checks.contains("fail-on")) out.fail_on = checks.fail_on;
  out.max_per_rule = checks.max_per_rule;
  for (const std::string& text : checks.targets) {
    NN_ASSIGN(TargetVersion target, ParseTarget(text));
    out.targets.push_back(std::move(target));
  }
  out.exclude = a.exclude;
  out.config = a.config;
  out.no_config = a.no_config;
  return out;
}

Result<std::vector<ReportOutput>> OutputsOf(const ValidateArguments& a,
                                            const CommandLine& command) {
  const bool to_terminal = a.output == "-" && command.UsesColor(STDOUT_FILENO);
  std::vector<ReportOutput> outputs = {
      {a.format, a.output, a.format == "text" && (to_terminal || command.AlwaysUsesColor())}};
  for (const std::string& text : a.reports) {
    NN_ASSIGN(ReportOutput output, ParseReportOutput(text));
    outputs.push_back(std::move(output));
  }
  NN_RETURN_IF_ERROR(CheckOutputs(outputs));
  return outputs;
}

// Adds the files to check to the report, and their options.
Result<std::vector<FileOptions>> AddFiles(const std::vector<std::string>& arguments,
                                          Configs& configs, Report& report) {
  NN_ASSIGN(const std::vector<ModelFile> models, ExpandModels(arguments));
  std::vector<FileOptions> options;
  for (const ModelFile& model : models) {
    NN_ASSIGN(FileOptions o, configs.For(model.path));
    if (!model.named && configs.IsExcluded(model.path, o)) continue;
    FileReport& file = report.files.emplace_back();
    file.path = model.path;
    file.fail_on = o.fail_on.value_or(Severity::kError);
    options.push_back(std::move(o));
  }
  if (options.empty()) return UsageError("all {} model files are excluded", models.size());
  report.rules = configs.Rules();
  return options;
}

// Reports the files that could not be checked; returns the exit code of the first.
int FailureOf(const std::vector<Status>& results, Report& report) {
  int code = kExitDone;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]) continue;
    const Error& error = results[i].error();
    spdlog::error("{}", error.message());
    report.files[i].failure = WithoutPrefix(error, report.files[i].path + ": ").message();
    if (code == kExitDone) code = ExitCode(error.code());
  }
  return code;
}

// Hides what the baseline lists, limits the findings, and writes the reports; returns the exit code
// of the findings.
Result<int> Deliver(const std::vector<FileOptions>& options,
                    const std::vector<ReportOutput>& outputs, std::optional<Baseline> baseline,
                    Report& report) {
  if (baseline) {
    for (FileReport& file : report.files) baseline->Hide(file);
    report.baseline = baseline->path();
    report.stale = baseline->Stale(report);
  }
  for (size_t i = 0; i < options.size(); ++i)
    if (options[i].max_per_rule) LimitFindings(report.files[i], *options[i].max_per_rule);
  NN_RETURN_IF_ERROR(WriteReports(report, outputs));
  return CountFailing(report) == 0 ? kExitDone : kExitCheckFailed;
}

Result<int> Run(const ValidateArguments& a, const CommandLine& command) {
  nnsuite::CheckOptions checks;
  NN_RETURN_IF_ERROR(SetOptions(CheckOptionTable(), a.checks, kOnCommandLine, &checks));
  NN_ASSIGN(CommandLineOptions command_line, OptionsOf(a, checks));
  Configs configs(std::move(command_line));
  if (a.list_rules || !a.explain.empty()) return PrintRules(a, configs);
  if (a.format == "markdown") return UsageError("--format markdown requires --list-rules");
  if (a.models.empty()) return UsageError("MODEL is missing");
  NN_ASSIGN(const std::vector<ReportOutput> outputs, OutputsOf(a, command));
  std::optional<Baseline> baseline;
  if (!checks.baseline.empty()) {
    NN_ASSIGN(baseline, Baseline::Read(checks.baseline));
  }
  std::optional<Attestation> attestation;
  if (!checks.attestation.empty()) {
    NN_ASSIGN(attestation, ReadAttestation(checks.attestation));
    if (attestation->is_signed)
      spdlog::warn(
          "{}: the signatures of the envelope are not checked here; use the tool that made them, "
          "such as cosign",
          checks.attestation);
  }
  Report report;
  report.tool_version = Version();
  report.tool_uri = NN_HOMEPAGE;
  NN_ASSIGN(const std::vector<FileOptions> options, AddFiles(a.models, configs, report));
  if (attestation) {
    if (options.size() != 1)
      return UsageError("--attestation is about one model, but there are {}", options.size());
    for (const RuleInfo& rule : AttestationRules()) report.rules.push_back(rule);
  }
  const bool fingerprints = baseline || !a.write_baseline.empty() || NeedsFingerprints(outputs);
  const int code = FailureOf(
      CheckFiles(options, attestation, fingerprints, command.limits(), a.jobs, report), report);
  if (!a.write_baseline.empty() && code == kExitDone) {
    const Baseline known = Baseline::Of(report, a.write_baseline);
    NN_RETURN_IF_ERROR(known.Write());
    spdlog::info("findings in {}: {}", a.write_baseline, known.size());
    return kExitDone;
  }
  NN_ASSIGN(const int found, Deliver(options, outputs, std::move(baseline), report));
  return code != kExitDone ? code : found;
}

}  // namespace
}  // namespace nn::app

int main(int argc, char** argv) {
  nn::app::CommandLine command("nnvalidate",
                               "Checks neural-network model files against their formats' rules.");
  nn::app::ValidateArguments arguments;
  nn::app::AddOptions(command, arguments);
  return command.Run(argc, argv, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(command.TakeOptions());
    return nn::app::Run(arguments, command);
  });
}
