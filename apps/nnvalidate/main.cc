// nnvalidate: checks model files against their formats' rules.
#include <spdlog/spdlog.h>

#include "apps/common/command_line.h"
#include "apps/common/progress.h"
#include "apps/common/table.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "formats/format.h"
#include "validators/report.h"
#include "validators/runner.h"

namespace nn::app {
namespace {

struct ValidateArguments {
  std::vector<std::string> models;
  std::string output = "-";
  std::string format = "text";
  std::string fail_on = "error";
  std::string profile = "spec";
  bool list_rules = false;
};

void AddOptions(CommandLine& command, ValidateArguments& a) {
  CLI::App& app = command.options();
  app.add_option("MODEL", a.models, "Model files");
  const auto names = ReportFormats();
  std::vector<std::string> formats(names.begin(), names.end());
  formats.push_back("markdown");
  app.add_option("--format", a.format, "Form of the report; markdown: of --list-rules")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  app.add_option("-o,--output", a.output, "Write the report to a file")->type_name("FILE");
  app.add_option("--fail-on", a.fail_on, "Least severity that gives exit code 1")
      ->check(CLI::IsMember({"error", "warning"}))
      ->capture_default_str();
  app.add_option("--profile", a.profile,
                 "spec: the published documents; vendor: only what the format owner's own tools "
                 "reject; strict: spec and lint")
      ->check(CLI::IsMember({"spec", "vendor", "strict"}))
      ->capture_default_str();
  app.add_flag("--list-rules", a.list_rules, "Print the rules of the profile");
}

Profile ProfileOf(const ValidateArguments& a) {
  if (a.profile == "vendor") return Profile::kVendor;
  return a.profile == "strict" ? Profile::kStrict : Profile::kSpec;
}

std::string RuleList(const std::vector<RuleInfo>& rules, bool json) {
  Table table({{"rule"}, {"severity"}, {"vendor"}, {"statement"}, {"source"}});
  Json list = Json::array();
  for (const RuleInfo& r : rules) {
    table.Add({std::string(r.id), std::string(SeverityName(r.severity)), r.vendor ? "yes" : "no",
               std::string(r.statement), std::string(r.clause)});
    list.push_back({{"id", r.id},
                    {"severity", SeverityName(r.severity)},
                    {"vendor", r.vendor},
                    {"statement", r.statement},
                    {"clause", r.clause},
                    {"hint", r.hint}});
  }
  return json ? JsonText({{"version", 1}, {"rules", std::move(list)}}) : table.Text();
}

// The report names the file itself.
Error WithoutPrefix(const Error& error, std::string_view prefix) {
  const std::string& message = error.message();
  return message.starts_with(prefix) ? Error(error.code(), message.substr(prefix.size())) : error;
}

// Checks one file. A file that is no model is a finding; an error is one of reaching the file at
// all.
Status CheckFile(const ValidateOptions& options, const ReadLimits& limits, FileReport& file) {
  const auto read = ReadModelFile(file.path, limits);
  if (read) {
    file.format = read->format->label;
    file.findings = Validate(*read->model, *read->format, options);
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

Result<int> Run(const ValidateArguments& a, const ReadLimits& limits) {
  const ValidateOptions options{ProfileOf(a)};
  Report report;
  report.rules = Rules(options.profile);
  if (a.list_rules) {
    if (a.format == "markdown") {
      NN_RETURN_IF_ERROR(WriteFile(a.output, RulesMarkdown()));
      return kExitDone;
    }
    if (a.format != "text" && a.format != "json")
      return UsageError("--list-rules prints text, json or markdown, not {}", a.format);
    NN_RETURN_IF_ERROR(WriteFile(a.output, RuleList(report.rules, a.format == "json")));
    return kExitDone;
  }
  if (a.format == "markdown") return UsageError("--format markdown is for --list-rules");
  if (a.models.empty()) return UsageError("MODEL is missing");
  report.fail_on = a.fail_on == "warning" ? Severity::kWarning : Severity::kError;
  report.tool_version = Version();
  int code = kExitDone;
  {
    Progress progress("files", a.models.size());
    for (const std::string& path : a.models) {
      FileReport file;
      file.path = path;
      if (auto s = CheckFile(options, limits, file); !s) {
        spdlog::error("{}", s.error().message());
        file.failure = WithoutPrefix(s.error(), path + ": ").message();
        // The first failure decides over findings and later failures.
        if (code == kExitDone) code = ExitCode(s.error().code());
      }
      report.files.push_back(std::move(file));
      progress.Step();
    }
  }
  NN_RETURN_IF_ERROR(WriteFile(a.output, RenderReport(report, a.format)));
  if (code != kExitDone) return code;
  size_t failing = CountFindings(report, Severity::kError);
  if (report.fail_on == Severity::kWarning) failing += CountFindings(report, Severity::kWarning);
  return failing == 0 ? kExitDone : kExitCheckFailed;
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
