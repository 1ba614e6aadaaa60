// nnvalidate: checks model files against their formats' rules.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>

#include "apps/common/command_line.h"
#include "apps/common/progress.h"
#include "apps/nnvalidate/assertions.h"
#include "apps/nnvalidate/baseline.h"
#include "apps/nnvalidate/config.h"
#include "apps/nnvalidate/files.h"
#include "apps/nnvalidate/rules_text.h"
#include "apps/nnvalidate/targets.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "formats/format.h"
#include "validators/report.h"
#include "validators/runner.h"

namespace nn::app {
namespace {

struct ValidateArguments {
  std::vector<std::string> models;
  std::string output = "-";
  std::string format = "text";
  std::string fail_on;  // "": from the configuration, or error
  std::string color = "auto";
  std::string profile;  // "": from the configuration, or spec
  std::vector<std::string> enable;
  std::vector<std::string> disable;
  std::string config;
  bool no_config = false;
  std::string baseline;
  std::string write_baseline;
  std::vector<std::string> targets;
  Assertions assertions;
  size_t jobs = 0;
  bool list_rules = false;
  std::string explain;
};

void AddRuleOptions(CommandLine& command, ValidateArguments& a) {
  CLI::App& app = command.options();
  app.add_option("--profile", a.profile,
                 "Rules to apply: spec (the default), the published documents; vendor, only what "
                 "the format owner's own tools reject; strict, spec and lint rules")
      ->check(CLI::IsMember({"spec", "vendor", "strict"}));
  const auto rules = [&](const char* name, std::vector<std::string>& ids, const char* what) {
    app.add_option(name, ids, what)->delimiter(',')->allow_extra_args(false)->type_name("ID,ID");
  };
  rules("--enable", a.enable, "Apply these rules, regardless of the profile");
  rules("--disable", a.disable, "Do not apply these rules");
  auto* config = app.add_option("--config", a.config,
                                "Use this configuration for all models, instead of the nearest "
                                ".nnvalidate.json of each")
                     ->type_name("FILE");
  app.add_flag("--no-config", a.no_config, "Read no configuration")->excludes(config);
  auto* baseline =
      app.add_option("--baseline", a.baseline, "Hide the findings that this file lists")
          ->type_name("FILE");
  app.add_option("--write-baseline", a.write_baseline,
                 "Write all findings to a file for --baseline, and exit with code 0")
      ->type_name("FILE")
      ->excludes(baseline);
  app.add_flag("--list-rules", a.list_rules, "Print the rules that the options select");
  app.add_option("--explain", a.explain, "Print the description of a rule, with an example")
      ->type_name("ID");
}

void AddOptions(CommandLine& command, ValidateArguments& a) {
  CLI::App& app = command.options();
  app.add_option("MODEL", a.models,
                 "Model files, folders, and patterns such as \"models/**/*.onnx\"");
  const auto names = ReportFormats();
  std::vector<std::string> formats(names.begin(), names.end());
  formats.push_back("markdown");
  app.add_option("--format", a.format, "Format of the report; markdown is for --list-rules only")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  app.add_option("-o,--output", a.output, "Write the report to this file")->type_name("FILE");
  app.add_option("--fail-on", a.fail_on,
                 "Lowest severity that gives exit code 1: error (the default) or warning")
      ->check(CLI::IsMember({"error", "warning"}));
  app.add_option("--color", a.color,
                 "Color the text report; auto: on terminals, unless NO_COLOR is set")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  AddRuleOptions(command, a);
  command
      .AddRepeated("--for", a.targets,
                   "Report what prevents conversion to onnx[:OPSET], tflite, coreml[:VERSION] or "
                   "nnapi-1.0; repeatable")
      ->type_name("FORMAT");
  AddAssertionOptions(command, a.assertions);
  app.add_option("-j,--jobs", a.jobs,
                 "Number of files to check in parallel; 0 for the number of processors")
      ->capture_default_str();
}

// The report names the file itself.
Error WithoutPrefix(const Error& error, std::string_view prefix) {
  const std::string& message = error.message();
  return message.starts_with(prefix) ? Error(error.code(), message.substr(prefix.size())) : error;
}

// The checks for every file, besides the rules.
struct Checks {
  Assertions assertions;
  std::vector<TargetVersion> targets;
  Baseline baseline;
};

// Checks one file. A file that is not a valid model is a finding; an error means that the file
// could not be accessed.
Status CheckFile(const ValidateOptions& options, const Checks& checks, const ReadLimits& limits,
                 FileReport& file) {
  const auto read = ReadModelFile(file.path, limits);
  if (read) {
    file.format = read->format->label;
    file.findings = Validate(*read->model, *read->format, options);
    const auto add = [&](std::vector<Finding> more) {
      file.findings.insert(file.findings.end(), std::move_iterator(more.begin()),
                           std::move_iterator(more.end()));
    };
    for (const TargetVersion& target : checks.targets) {
      NN_ASSIGN(std::vector<Finding> unsupported, CheckTarget(*read, target));
      add(std::move(unsupported));
    }
    add(CheckAssertions(*read, file.path, checks.assertions));
  } else if (const ErrorCode code = read.error().code();
             code == ErrorCode::kParse || code == ErrorCode::kModel) {
    file.findings = {
        UnreadableFile(WithoutPrefix(read.error(), file.path + ": "), FormatOfPath(file.path))};
  } else {
    return tl::unexpected(read.error());
  }
  for (Finding& f : file.findings) f.location.file = file.path;
  checks.baseline.Hide(file);
  return {};
}

// Checks the files of the report in parallel; returns the status of each.
std::vector<Status> CheckFiles(const std::vector<ValidateOptions>& options, const Checks& checks,
                               const ReadLimits& limits, size_t jobs, Report& report) {
  std::vector<Status> results(report.files.size());
  Progress progress("files", report.files.size());
  std::mutex mutex;
  const size_t most = jobs != 0 ? jobs : AvailableProcessors();
  ThreadPool pool(std::clamp<size_t>(report.files.size(), 1, most));
  pool.ParallelFor(report.files.size(), [&](size_t i) {
    try {
      results[i] = CheckFile(options[i], checks, limits, report.files[i]);
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

bool IsColored(const ValidateArguments& a) {
  if (a.color != "auto") return a.color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return a.output == "-" && isatty(STDOUT_FILENO) == 1 &&
         (no_color == nullptr || *no_color == '\0');
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

Result<Checks> ChecksOf(const ValidateArguments& a) {
  NN_RETURN_IF_ERROR(CheckUsage(a.assertions));
  Checks checks;
  checks.assertions = a.assertions;
  for (const std::string& text : a.targets) {
    NN_ASSIGN(const TargetVersion target, ParseTarget(text));
    checks.targets.push_back(target);
  }
  if (!a.baseline.empty()) {
    NN_ASSIGN(checks.baseline, Baseline::Read(a.baseline));
  }
  return checks;
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

Result<int> Run(const ValidateArguments& a, const ReadLimits& limits) {
  const std::set<std::string, std::less<>> enable(a.enable.begin(), a.enable.end());
  const std::set<std::string, std::less<>> disable(a.disable.begin(), a.disable.end());
  NN_RETURN_IF_ERROR(CheckRuleIds(enable));
  NN_RETURN_IF_ERROR(CheckRuleIds(disable));
  Configs configs(ParseProfile(a.profile), enable, disable, a.config, a.no_config);
  if (a.list_rules || !a.explain.empty()) return PrintRules(a, configs);
  if (a.format == "markdown") return UsageError("--format markdown requires --list-rules");
  if (a.models.empty()) return UsageError("MODEL is missing");
  NN_ASSIGN(const Checks checks, ChecksOf(a));
  NN_ASSIGN(const std::vector<std::string> models, ExpandModels(a.models));
  Report report;
  report.tool_version = Version();
  report.files.resize(models.size());
  const std::optional<Severity> fail_on = ParseFailOn(a.fail_on);
  std::vector<ValidateOptions> options;
  options.reserve(models.size());
  for (size_t i = 0; i < models.size(); ++i) {
    report.files[i].path = models[i];
    NN_ASSIGN(FileOptions o, configs.For(models[i]));
    report.files[i].fail_on = fail_on.value_or(o.fail_on.value_or(Severity::kError));
    options.push_back(std::move(o.rules));
  }
  report.rules = configs.Rules();
  for (const TargetVersion& target : checks.targets) report.rules.push_back(target.rule);
  for (const RuleInfo& rule : AssertionRules(a.assertions)) report.rules.push_back(rule);
  const int code = FailureOf(CheckFiles(options, checks, limits, a.jobs, report), report);
  if (!a.write_baseline.empty() && code == kExitDone) {
    const Baseline baseline = Baseline::Of(report);
    NN_RETURN_IF_ERROR(baseline.Write(a.write_baseline));
    spdlog::info("findings in {}: {}", a.write_baseline, baseline.size());
    return kExitDone;
  }
  const bool colored = IsColored(a);
  const std::string text = RenderReport(report, a.format, colored);
  // The report escapes what comes from files; colors are control characters.
  NN_RETURN_IF_ERROR(colored ? WriteFile(a.output, text) : PrintText(a.output, text));
  if (code != kExitDone) return code;
  return CountFailing(report) == 0 ? kExitDone : kExitCheckFailed;
}

}  // namespace
}  // namespace nn::app

int main(int argc, char** argv) {
  nn::app::CommandLine command("nnvalidate",
                               "Checks neural-network model files against their formats' rules.");
  nn::app::ValidateArguments arguments;
  nn::app::AddOptions(command, arguments);
  return command.Run(argc, argv, [&] { return nn::app::Run(arguments, command.limits()); });
}
