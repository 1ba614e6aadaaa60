// The reports of a run: nnvalidate --format, --output and --report.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "validators/report.h"

namespace nn::app {

// A report to write.
struct ReportOutput {
  std::string format;  // one of ReportFormats()
  std::string path;    // or "-"
  bool color = false;
};

// "sarif=findings.sarif". kUsage for other text.
Result<ReportOutput> ParseReportOutput(const std::string& text);

// kUsage if two reports have one destination.
Status CheckOutputs(const std::vector<ReportOutput>& outputs);

// Whether an output has Finding::fingerprint.
bool NeedsFingerprints(const std::vector<ReportOutput>& outputs);

Status WriteReports(const Report& report, const std::vector<ReportOutput>& outputs);

}  // namespace nn::app
