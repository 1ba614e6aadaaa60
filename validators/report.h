// Findings as text and in machine-readable formats.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validators/finding.h"

namespace nn {

// Findings of a rule in a file that are counted only (LimitFindings).
struct RestOfRule {
  std::string rule;
  Severity severity = Severity::kError;
  uint64_t count = 0;
};

// The result for one file.
struct FileReport {
  std::string path;
  std::string format;  // "ONNX"; empty if the file could not be read
  std::vector<Finding> findings;
  std::vector<RestOfRule> rest;
  uint64_t known = 0;  // number of findings that the baseline hides
  // Why the file could not be checked (missing, too large); empty if it was checked.
  std::string failure;
  Severity fail_on = Severity::kError;  // the least severity that fails the file
};

struct Report {
  std::vector<FileReport> files;
  std::vector<RuleInfo> rules;  // the rules that were applied
  std::string tool_version;
  std::string tool_uri;  // of the project; empty if unknown
  std::string baseline;  // path of the baseline; empty if there is none
  std::vector<StaleEntry> stale;
};

// "graph.node[3], byte 1234"; empty if the location is unknown. Includes "operator 3" if the
// element does not contain the index.
std::string LocationText(const Location& location);

// Keeps the first `most` findings of each rule and counts the rest.
void LimitFindings(FileReport& file, size_t most);

// "97 more findings".
std::string RestText(const RestOfRule& rest);
// "FILE no longer has 2 findings: MESSAGE".
std::string StaleText(const StaleEntry& stale);

// The numbers include those of FileReport::rest.
size_t CountFindings(const Report& report, Severity severity);
// Findings with the fail_on severity of their file or above.
size_t CountFailing(const Report& report);

// In the style of compilers: "FILE:PLACE: error: MESSAGE [RULE]" for each finding, followed by its
// hint, and a summary line. With ANSI color escapes if `color` is set.
std::string TextReport(const Report& report, bool color = false);
// {"version": 1, "files": [...], "summary": {...}}.
std::string JsonReport(const Report& report);
// SARIF 2.1.0 (OASIS), one run with the rules that have findings. Elements are logical locations.
std::string SarifReport(const Report& report);
// JUnit XML: one suite per file, one case per finding. Findings below fail_on are passed cases with
// output.
std::string JunitReport(const Report& report);
// GitHub Actions workflow commands, one line per finding.
std::string GithubReport(const Report& report);
// GitLab's Code Quality report: a list of findings. Their fingerprints, which require
// Finding::fingerprint, also cover the path, and tell apart findings that are equal otherwise.
std::string GitlabReport(const Report& report);

// "text", "json", "sarif", "junit", "github", "gitlab".
std::span<const std::string_view> ReportFormats();
// Requires one of ReportFormats(). `color` only affects text.
std::string RenderReport(const Report& report, std::string_view format, bool color = false);

}  // namespace nn
