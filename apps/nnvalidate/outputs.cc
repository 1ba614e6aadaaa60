#include "apps/nnvalidate/outputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "apps/common/command_line.h"
#include "base/file/file.h"
#include "base/text/text.h"

namespace nn::app {

Result<ReportOutput> ParseReportOutput(const std::string& text) {
  const auto formats = ReportFormats();
  const size_t equals = text.find('=');
  const std::string format = text.substr(0, equals);
  if (equals == std::string::npos || equals + 1 == text.size() ||
      std::find(formats.begin(), formats.end(), format) == formats.end())
    return UsageError("--report {}: expected FORMAT=FILE; the formats are {}", Quote(text),
                      fmt::join(formats, ", "));
  return ReportOutput{format, text.substr(equals + 1)};
}

Status CheckOutputs(const std::vector<ReportOutput>& outputs) {
  std::set<std::string> paths;
  for (const ReportOutput& o : outputs) {
    std::error_code error;
    const auto full = std::filesystem::weakly_canonical(o.path, error);
    if (!paths.insert(o.path == "-" || error ? o.path : full.string()).second)
      return UsageError("two reports would be written to {}",
                        o.path == "-" ? "standard output" : o.path);
  }
  return {};
}

bool NeedsFingerprints(const std::vector<ReportOutput>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(), [](const ReportOutput& o) {
    return o.format == "json" || o.format == "sarif" || o.format == "gitlab";
  });
}

Status WriteReports(const Report& report, const std::vector<ReportOutput>& outputs) {
  for (const ReportOutput& o : outputs) {
    const std::string text = RenderReport(report, o.format, o.color);
    // The report escapes what comes from files; colors are control characters.
    NN_RETURN_IF_ERROR(o.color ? WriteFile(o.path, text) : PrintText(o.path, text));
  }
  return {};
}

}  // namespace nn::app
