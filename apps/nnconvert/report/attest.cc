#include "apps/nnconvert/report/attest.h"

#include <filesystem>
#include <string>
#include <vector>

#include "apps/common/program.h"
#include "check/provenance.h"
#include "check/statement.h"

namespace nn::app {
namespace {

std::string BaseName(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().filename().string();
}

// The names of the files of the output beside it.
std::vector<std::string> FilesBeside(const ConvertReport& report) {
  if (!report.c_header.empty()) return {BaseName(report.c_header)};
  std::vector<std::string> names;
  if (report.conversion.written)
    for (const auto& [name, bytes] : report.conversion.written->side_files) names.push_back(name);
  return names;
}

}  // namespace

Status CheckAttest(const ConvertArguments& o) {
  if (o.attest.empty()) return {};
  if (o.dry_run) return UsageError("--attest states digests of the output; --dry-run writes none");
  if (o.input == "-" || o.output == "-")
    return UsageError("--attest needs files as IN and OUT, whose digests it states");
  return {};
}

std::optional<GraphDigests> HashSource(const ConvertArguments& o) {
  return o.attest.empty() ? std::nullopt : provenance::HashOf(o.input, o.limits);
}

Status WriteAttestation(const ConvertArguments& o, const std::optional<GraphDigests>& source,
                        const ConvertReport& report) {
  if (o.attest.empty() || !report.written) return {};
  return WriteStatement(o.attest, {.source = o.input,
                                   .source_files = report.input_files,
                                   .source_hashes = source,
                                   .output = report.output,
                                   .output_format = report.output_format,
                                   .beside = FilesBeside(report),
                                   .options = DecidingOptions(o),
                                   .report = ReportJson(report),
                                   .limits = o.limits,
                                   .version = Version()});
}

}  // namespace nn::app
