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

// The result for one file.
struct FileReport {
  std::string path;
  std::string format;  // "ONNX"; empty if the file could not be read
  std::vector<Finding> findings;
  uint64_t known = 0;  // number of findings that the baseline hides
  // Why the file could not be checked (missing, too large); empty if it was checked.
  std::string failure;
  Severity fail_on = Severity::kError;  // the least severity that fails the file
};

struct Report {
  std::vector<FileReport> files;
  std::vector<RuleInfo> rules;  // the rules that were applied
  std::string tool_version;
};

// "graph.node[3], byte 1234"; empty if the location is unknown. Includes "operator 3" if the
// element does not contain the index.
std::string LocationText(const Location& location);

// Identifies a finding within its file across other changes of the file: a hash of the rule and the
// message without the operator's number, which changes when operators are inserted before it. 16
// hexadecimal digits.
std::string FingerprintOf(const Finding& finding);

size_t CountFindings(const Report& report, Severity severity);
// Findings with the fail_on severity of their file or above.
size_t CountFailing(const Report& report);

// In the style of compilers: "FILE:PLACE: error: MESSAGE [RULE]" for each finding, followed by its
// hint, and a summary line. With ANSI color escapes if `color` is set.
std::string TextReport(const Report& report, bool color = false);
// {"version": 1, "files": [...], "summary": {...}}.
std::string JsonReport(const Report& report);
// SARIF 2.1.0 (OASIS), one run. Elements are logical locations, and byte offsets are regions.
std::string SarifReport(const Report& report);
// JUnit XML: one suite per file, one case per finding. Findings below fail_on are passed cases with
// output.
std::string JunitReport(const Report& report);
// GitHub Actions workflow commands, one line per finding.
std::string GithubReport(const Report& report);

// "text", "json", "sarif", "junit", "github".
std::span<const std::string_view> ReportFormats();
// Requires one of ReportFormats(). `color` only affects text.
std::string RenderReport(const Report& report, std::string_view format, bool color = false);

}  // namespace nn
