// Findings as text and in the forms that other tools read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validators/finding.h"

namespace nn {

// What became of one file.
struct FileReport {
  std::string path;
  std::string format;  // "ONNX"; empty if the file could not be read
  std::vector<Finding> findings;
  uint64_t known = 0;  // findings that are not among these, because they were known before
  // Why the file could not be checked at all (missing, too large); empty if it was.
  std::string failure;
  Severity fail_on = Severity::kError;  // findings below it do no harm
};

struct Report {
  std::vector<FileReport> files;
  std::vector<RuleInfo> rules;  // those that were applied
  std::string tool_version;
};

// "graph.node[3], byte 1234"; empty if nothing is known. The operator is named if the element does
// not: "operator 3".
std::string LocationText(const Location& location);

// What tells a finding from others of its file, whatever else changes there: the rule and what it
// says, but for the number of the operator, which changes with those before it. 16 hexadecimal
// digits.
std::string FingerprintOf(const Finding& finding);

size_t CountFindings(const Report& report, Severity severity);
// Findings of their file's fail_on severity or above.
size_t CountFailing(const Report& report);

// For people, as compilers print: "FILE:PLACE: error: MESSAGE [RULE]" a finding, with a hint below
// it, and a line of summary. In colours (ANSI escapes) if asked.
std::string TextReport(const Report& report, bool color = false);
// {"version": 1, "files": [...], "summary": {...}}.
std::string JsonReport(const Report& report);
// SARIF 2.1.0 (OASIS), one run; elements are logical locations, byte offsets regions.
std::string SarifReport(const Report& report);
// JUnit XML: a suite a file, a case a finding; findings below fail_on are passed cases with text.
std::string JunitReport(const Report& report);
// GitHub Actions workflow commands, one line a finding.
std::string GithubReport(const Report& report);

// "text", "json", "sarif", "junit", "github".
std::span<const std::string_view> ReportFormats();
// Requires a name of the above. `color` is for text.
std::string RenderReport(const Report& report, std::string_view format, bool color = false);

}  // namespace nn
