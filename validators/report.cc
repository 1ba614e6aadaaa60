#include "validators/report.h"

#include <fmt/core.h>

#include <array>
#include <map>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"

namespace nn {
namespace {

std::string Plural(size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

size_t CountIn(const FileReport& file, Severity severity) {
  size_t n = 0;
  for (const Finding& f : file.findings) n += f.severity == severity ? 1 : 0;
  return n;
}

std::string SummaryLine(const FileReport& file) {
  if (!file.failure.empty()) return "not checked: " + file.failure;
  std::string out;
  for (const Severity s : {Severity::kError, Severity::kWarning, Severity::kNote})
    if (const size_t n = CountIn(file, s))
      out += (out.empty() ? "" : ", ") + Plural(n, SeverityName(s));
  if (out.empty()) out = "no findings";
  return file.known == 0 ? out : fmt::format("{} ({} known)", out, file.known);
}

// Message, place and hint as lines, those after the first indented.
std::string Body(const Finding& f) {
  std::string out = f.message;
  if (const std::string where = LocationText(f.location); !where.empty()) out += "\nat " + where;
  if (!f.hint.empty()) out += "\nhint: " + f.hint;
  return EscapeLines(out, "\n    ");
}

Json LocationJson(const Location& where) {
  Json json = Json::object();
  if (!where.element.empty()) json["element"] = where.element;
  if (where.index >= 0) json["index"] = where.index;
  if (where.offset) json["offset"] = *where.offset;
  return json;
}

}  // namespace

std::string LocationText(const Location& location) {
  std::string out = location.element;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  if (location.index >= 0) add(fmt::format("operator {}", location.index));
  if (location.offset) add(fmt::format("byte {}", *location.offset));
  return out;
}

std::string FingerprintOf(const Finding& finding) {
  constexpr size_t kPrefix = std::string_view("sha256:").size(), kDigits = 16;
  Sha256 sha;
  sha.Text(finding.rule);
  sha.Text(finding.message);
  return sha.Finish().substr(kPrefix, kDigits);
}

size_t CountFindings(const Report& report, Severity severity) {
  size_t n = 0;
  for (const FileReport& file : report.files) n += CountIn(file, severity);
  return n;
}

std::string TextReport(const Report& report) {
  std::string out;
  for (const FileReport& file : report.files) {
    for (const Finding& f : file.findings)
      out += fmt::format("{}: {} {}: {}\n", file.path, SeverityName(f.severity), f.rule, Body(f));
    out += fmt::format("{}: {}\n", file.path, SummaryLine(file));
  }
  return out;
}

std::string JsonReport(const Report& report) {
  Json files = Json::array();
  for (const FileReport& file : report.files) {
    Json findings = Json::array();
    for (const Finding& f : file.findings) {
      Json finding = {{"rule", f.rule},
                      {"severity", SeverityName(f.severity)},
                      {"message", f.message},
                      {"location", LocationJson(f.location)}};
      if (!f.hint.empty()) finding["hint"] = f.hint;
      findings.push_back(std::move(finding));
    }
    Json entry = {{"path", file.path}};
    if (!file.format.empty()) entry["format"] = file.format;
    if (!file.failure.empty()) entry["failure"] = file.failure;
    entry["findings"] = std::move(findings);
    if (file.known != 0) entry["known"] = file.known;
    files.push_back(std::move(entry));
  }
  return JsonText({{"version", 1},
                   {"tool", {{"name", "nnvalidate"}, {"version", report.tool_version}}},
                   {"files", std::move(files)},
                   {"summary",
                    {{"errors", CountFindings(report, Severity::kError)},
                     {"warnings", CountFindings(report, Severity::kWarning)},
                     {"notes", CountFindings(report, Severity::kNote)}}}});
}

std::span<const std::string_view> ReportFormats() {
  static constexpr std::array<std::string_view, 5> kNames = {"text", "json", "sarif", "junit",
                                                             "github"};
  return kNames;
}

std::string RenderReport(const Report& report, std::string_view format) {
  if (format == "json") return JsonReport(report);
  if (format == "sarif") return SarifReport(report);
  if (format == "junit") return JunitReport(report);
  if (format == "github") return GithubReport(report);
  return TextReport(report);
}

}  // namespace nn
