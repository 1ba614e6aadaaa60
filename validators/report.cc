#include "validators/report.h"

#include <fmt/color.h>
#include <fmt/core.h>

#include <array>
#include <map>

#include "base/json/json.h"
#include "base/text/text.h"

namespace nn {
namespace {

std::string Plural(size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

size_t CountIn(const FileReport& file, Severity severity) {
  size_t n = 0;
  for (const Finding& f : file.findings) n += f.severity == severity ? 1 : 0;
  for (const RestOfRule& r : file.rest) n += r.severity == severity ? r.count : 0;
  return n;
}

// "1 error, 2 warnings"; empty if there are none.
std::string CountsText(std::span<const FileReport> files) {
  std::string out;
  for (const Severity s : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    size_t n = 0;
    for (const FileReport& file : files) n += CountIn(file, s);
    if (n != 0) out += (out.empty() ? "" : ", ") + Plural(n, SeverityName(s));
  }
  return out;
}

// The last line: the counts of one file, or the sums over several.
std::string SummaryLine(std::span<const FileReport> files) {
  size_t with_findings = 0;
  size_t failures = 0;
  uint64_t known = 0;
  for (const FileReport& file : files) {
    with_findings += file.findings.empty() ? 0 : 1;
    failures += file.failure.empty() ? 0 : 1;
    known += file.known;
  }
  if (files.size() == 1 && failures == 1) return {};  // already reported
  std::string out = CountsText(files);
  if (out.empty()) out = "no findings";
  const std::string head =
      files.size() == 1 ? EscapeControls(files.front().path) : Plural(files.size(), "file");
  if (files.size() != 1 && with_findings != 0)
    out += fmt::format(" in {}", Plural(with_findings, "file"));
  if (known != 0) out += fmt::format(" ({} known)", known);
  if (failures != 0) out += fmt::format("; {} not checked", failures);
  return fmt::format("{}: {}\n", head, out);
}

fmt::text_style StyleOf(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return fmt::emphasis::bold | fg(fmt::terminal_color::cyan);
    case Severity::kWarning:
      return fmt::emphasis::bold | fg(fmt::terminal_color::magenta);
    case Severity::kError:
      break;
  }
  return fmt::emphasis::bold | fg(fmt::terminal_color::red);
}

std::string FindingText(const FileReport& file, const Finding& f, bool color) {
  const auto styled = [&](const std::string& text, fmt::text_style style) {
    return color ? fmt::format(style, "{}", text) : text;
  };
  const std::string where = LocationText(f.location);
  const std::string place = file.path + (where.empty() ? "" : ":" + where) + ":";
  std::string out =
      fmt::format("{} {} {} [{}]\n", styled(EscapeControls(place), fmt::emphasis::bold),
                  styled(fmt::format("{}:", SeverityName(f.severity)), StyleOf(f.severity)),
                  styled(EscapeLines(f.message, "\n    "), fmt::emphasis::bold), f.rule);
  if (!f.hint.empty()) out += fmt::format("    hint: {}\n", EscapeLines(f.hint, "\n    "));
  return out;
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
  if (location.index >= 0 &&
      location.element.find(fmt::format("[{}]", location.index)) == std::string::npos)
    add(fmt::format("operator {}", location.index));
  if (location.offset) add(fmt::format("byte {}", *location.offset));
  return out;
}

void LimitFindings(FileReport& file, size_t most) {
  std::map<std::string, size_t, std::less<>> seen;
  std::map<std::string, size_t, std::less<>> places;  // in file.rest
  std::erase_if(file.findings, [&](const Finding& f) {
    if (++seen[f.rule] <= most) return false;
    const auto [place, added] = places.try_emplace(f.rule, file.rest.size());
    if (added) file.rest.push_back({f.rule, f.severity, 0});
    ++file.rest[place->second].count;
    return true;
  });
}

std::string RestText(const RestOfRule& rest) {
  return Plural(rest.count, "more finding");
}

std::string StaleText(const StaleEntry& stale) {
  return fmt::format("{} no longer has {}: {}", stale.file, Plural(stale.count, "finding"),
                     stale.message);
}

size_t CountFindings(const Report& report, Severity severity) {
  size_t n = 0;
  for (const FileReport& file : report.files) n += CountIn(file, severity);
  return n;
}

size_t CountFailing(const Report& report) {
  size_t n = 0;
  for (const FileReport& file : report.files) {
    for (const Finding& f : file.findings) n += f.severity >= file.fail_on ? 1 : 0;
    for (const RestOfRule& r : file.rest) n += r.severity >= file.fail_on ? r.count : 0;
  }
  return n;
}

std::string TextReport(const Report& report, bool color) {
  std::string out;
  for (const FileReport& file : report.files) {
    for (const Finding& f : file.findings) out += FindingText(file, f, color);
    for (const RestOfRule& r : file.rest)
      out += fmt::format("{}: {} [{}]\n", EscapeControls(file.path), RestText(r), r.rule);
    if (!file.failure.empty())
      out += fmt::format("{}: not checked: {}\n", EscapeControls(file.path),
                         EscapeLines(file.failure, "\n    "));
  }
  for (const StaleEntry& s : report.stale)
    out += fmt::format("{}: note: {} [{}]\n", EscapeControls(report.baseline),
                       EscapeLines(StaleText(s), "\n    "), EscapeControls(s.rule));
  if (!report.stale.empty()) out += "    hint: Write the baseline again with --write-baseline.\n";
  return out + SummaryLine(report.files);
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
      if (!f.fingerprint.empty()) finding["fingerprint"] = f.fingerprint;
      findings.push_back(std::move(finding));
    }
    Json entry = {{"path", file.path}};
    if (!file.format.empty()) entry["format"] = file.format;
    if (!file.failure.empty()) entry["failure"] = file.failure;
    entry["findings"] = std::move(findings);
    for (const RestOfRule& r : file.rest) entry["more"][r.rule] = r.count;
    if (file.known != 0) entry["known"] = file.known;
    files.push_back(std::move(entry));
  }
  Json json = {{"version", 1},
               {"tool", {{"name", "nnvalidate"}, {"version", report.tool_version}}},
               {"files", std::move(files)}};
  for (const StaleEntry& s : report.stale)
    json["stale"].push_back(
        {{"file", s.file}, {"rule", s.rule}, {"message", s.message}, {"count", s.count}});
  json["summary"] = {{"errors", CountFindings(report, Severity::kError)},
                     {"warnings", CountFindings(report, Severity::kWarning)},
                     {"notes", CountFindings(report, Severity::kNote)}};
  return JsonText(json);
}

std::span<const std::string_view> ReportFormats() {
  static constexpr std::array<std::string_view, 6> kNames = {"text",  "json",   "sarif",
                                                             "junit", "github", "gitlab"};
  return kNames;
}

std::string RenderReport(const Report& report, std::string_view format, bool color) {
  if (format == "json") return JsonReport(report);
  if (format == "sarif") return SarifReport(report);
  if (format == "junit") return JunitReport(report);
  if (format == "github") return GithubReport(report);
  if (format == "gitlab") return GitlabReport(report);
  return TextReport(report, color);
}

}  // namespace nn
