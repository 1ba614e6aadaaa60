// The formats that continuous integration reads: JUnit XML, GitHub workflow commands and GitLab's
// Code Quality report.
#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <string>

#include "base/json/json.h"
#include "base/json/xml.h"
#include "base/sha256.h"
#include "base/text/text.h"
#include "validators/report.h"

namespace nn {
namespace {

// Message, location and hint, without control characters, which are invalid in XML and unwanted in
// logs.
std::string Text(const Finding& f) {
  std::string out = f.message;
  if (const std::string at = LocationText(f.location); !at.empty()) out += " (at " + at + ")";
  if (!f.hint.empty()) out += "\n" + f.hint;
  return EscapeLines(out);
}

class Suite {
 public:
  explicit Suite(const FileReport& file)
      : path_(file.path), classname_(file.format.empty() ? "file" : file.format) {}

  void Passed(std::string_view name, std::string_view output) {
    Case(name, output.empty() ? "" : fmt::format("<system-out>{}</system-out>", EscapeXml(output)));
  }
  void Failed(std::string_view name, const Finding& f) {
    ++failures_;
    Case(name,
         fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", SeverityName(f.severity),
                     EscapeXml(EscapeLines(f.message)), EscapeXml(Text(f))));
  }
  void Error(std::string_view name, std::string_view message) {
    ++errors_;
    Case(name, fmt::format("<error message=\"{}\"/>", EscapeXml(message)));
  }

  std::string Finish() const {
    return fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}  </testsuite>\n",
        EscapeXml(EscapeLines(path_)), tests_, failures_, errors_, cases_);
  }

 private:
  void Case(std::string_view name, std::string_view content) {
    ++tests_;
    cases_ += fmt::format("    <testcase classname=\"{}\" name=\"{}\"",
                          EscapeXml(EscapeLines(classname_)), EscapeXml(EscapeLines(name)));
    cases_ += content.empty() ? "/>\n" : fmt::format(">{}</testcase>\n", content);
  }

  std::string path_;
  std::string classname_;
  std::string cases_;
  size_t tests_ = 0;
  size_t failures_ = 0;
  size_t errors_ = 0;
};

std::string SuiteText(const FileReport& file) {
  Suite suite(file);
  for (const Finding& f : file.findings) {
    const std::string at = LocationText(f.location);
    const std::string name = at.empty() ? f.rule : f.rule + " at " + at;
    if (f.severity >= file.fail_on)
      suite.Failed(name, f);
    else
      suite.Passed(name, fmt::format("{}: {}", SeverityName(f.severity), Text(f)));
  }
  for (const RestOfRule& r : file.rest) {
    if (r.severity >= file.fail_on)
      suite.Failed(r.rule, {r.rule, r.severity, RestText(r), {}, {}});
    else
      suite.Passed(r.rule, fmt::format("{}: {}", SeverityName(r.severity), RestText(r)));
  }
  if (!file.failure.empty()) suite.Error("readable", EscapeLines(file.failure));
  if (file.findings.empty() && file.failure.empty()) suite.Passed("all rules", "");
  return suite.Finish();
}

// Escapes the value of a workflow command; a percent sign starts an escape.
std::string CommandData(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '%':
        out += "%25";
        break;
      case '\r':
        out += "%0D";
        break;
      case '\n':
        out += "%0A";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string_view CommandOf(Severity severity) {
  return severity == Severity::kNote ? "notice" : SeverityName(severity);
}

std::string CommandProperty(std::string_view text) {
  std::string out;
  for (const char c : CommandData(text)) {
    if (c == ':')
      out += "%3A";
    else if (c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

std::string_view GitlabSeverity(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "info";
    case Severity::kWarning:
      return "minor";
    case Severity::kError:
      break;
  }
  return "major";
}

// The entries of a Code Quality report.
class CodeQuality {
 public:
  void Add(const std::string& path, std::string_view rule, std::string_view severity,
           const std::string& text, std::string_view fingerprint) {
    // GitLab resolves paths from the root of the repository, and does not normalize them.
    const std::string file = std::filesystem::path(path).lexically_normal().generic_string();
    list_.push_back({{"description", text},
                     {"check_name", rule},
                     {"fingerprint", UniqueDigest(file, rule, fingerprint)},
                     {"severity", severity},
                     {"location", {{"path", file}, {"lines", {{"begin", 1}}}}}});
  }
  Json Finish() { return std::move(list_); }

 private:
  // GitLab keeps one of the entries with equal fingerprints, so each has its number among its
  // equals.
  std::string UniqueDigest(std::string_view file, std::string_view rule,
                           std::string_view fingerprint) {
    const std::string key = fmt::format("{}\n{}\n{}", file, rule, fingerprint);
    constexpr size_t kPrefix = std::string_view("sha256:").size(), kDigits = 32;
    Sha256 sha;
    sha.Text(key);
    sha.Text(std::to_string(seen_[key]++));
    return sha.Finish().substr(kPrefix, kDigits);
  }

  Json list_ = Json::array();
  std::map<std::string, size_t, std::less<>> seen_;
};

}  // namespace

std::string JunitReport(const Report& report) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"nnvalidate\">\n";
  for (const FileReport& file : report.files) out += SuiteText(file);
  return out + "</testsuites>\n";
}

std::string GithubReport(const Report& report) {
  std::string out;
  for (const FileReport& file : report.files) {
    const std::string path = CommandProperty(EscapeLines(file.path));
    for (const Finding& f : file.findings) {
      out += fmt::format("::{} file={},title={}::{}\n", CommandOf(f.severity), path,
                         CommandProperty(EscapeLines(f.rule)), CommandData(Text(f)));
    }
    for (const RestOfRule& r : file.rest)
      out += fmt::format("::{} file={},title={}::{}\n", CommandOf(r.severity), path,
                         CommandProperty(EscapeLines(r.rule)), RestText(r));
    if (!file.failure.empty())
      out += fmt::format("::error file={}::{}\n", path, CommandData(EscapeLines(file.failure)));
  }
  for (const StaleEntry& s : report.stale)
    out += fmt::format(
        "::notice file={},title={}::{}\n", CommandProperty(EscapeLines(report.baseline)),
        CommandProperty(EscapeLines(s.rule)), CommandData(EscapeLines(StaleText(s))));
  return out;
}

std::string GitlabReport(const Report& report) {
  CodeQuality out;
  for (const FileReport& file : report.files) {
    for (const Finding& f : file.findings)
      out.Add(file.path, f.rule, GitlabSeverity(f.severity), Text(f), f.fingerprint);
    for (const RestOfRule& r : file.rest)
      out.Add(file.path, r.rule, GitlabSeverity(r.severity), RestText(r), "more");
    if (!file.failure.empty())
      out.Add(file.path, "not-checked", "blocker", EscapeLines(file.failure), "");
  }
  for (const StaleEntry& s : report.stale)
    out.Add(report.baseline, s.rule, "info", EscapeLines(StaleText(s)), s.file + "\n" + s.message);
  return JsonText(out.Finish());
}

}  // namespace nn
