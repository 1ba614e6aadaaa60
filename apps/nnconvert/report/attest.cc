#include "apps/nnconvert/report/attest.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/program.h"
#include "base/file/file.h"
#include "base/file/model_files.h"
#include "check/provenance.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

std::string BaseName(const std::string& path) {
  return fs::path(path).lexically_normal().filename().string();
}

// Resource descriptors. The files of a package are named below it.
Json Descriptors(const std::string& path, const std::vector<FileDigest>& files) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  Json out = Json::array();
  for (const FileDigest& f : files)
    out.push_back({{"name", is_folder ? BaseName(path) + "/" + f.name : f.name},
                   {"digest", {{"sha256", f.digits()}}}});
  return out;
}

// The files of the output, in place.
Result<std::vector<FileDigest>> OutputFiles(const ConvertReport& report) {
  std::vector<std::string> beside;
  if (!report.c_header.empty())
    beside.push_back(BaseName(report.c_header));
  else if (report.conversion.written)
    for (const auto& [name, bytes] : report.conversion.written->side_files) beside.push_back(name);
  return DigestModel(report.output, beside);
}

Json RunDetails(const ConvertArguments& o, const std::optional<GraphDigests>& source,
                const ConvertReport& report) {
  Json details = {
      {"builder", {{"id", NN_HOMEPAGE "/nnconvert"}, {"version", {{"nnconvert", Version()}}}}}};
  Json all = ReportJson(report);
  details[provenance::kResult] = all["result"];
  Json& hashes = details[provenance::kHashes] = Json::object();
  if (source) hashes["input"] = provenance::HashJson(*source);
  if (const auto hash = provenance::HashOf(o.output, o.limits))
    hashes["output"] = provenance::HashJson(*hash);
  details[provenance::kVerification] = all["verification"];
  if (all.contains("native_edits")) details[provenance::kNativeEdits] = all["native_edits"];
  if (all.contains("graph_edits")) details[provenance::kGraphEdits] = all["graph_edits"];
  return details;
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
  NN_ASSIGN(const std::vector<FileDigest> files, OutputFiles(report));
  Json definition = {{"buildType", provenance::kBuildType},
                     {"externalParameters",
                      {{"source", BaseName(o.input)},
                       {"format", report.output_format},
                       {"options", DecidingOptions(o)}}},
                     {"resolvedDependencies", Descriptors(o.input, report.input_files)}};
  const Json statement = {{"_type", provenance::kStatementType},
                          {"subject", Descriptors(report.output, files)},
                          {"predicateType", provenance::kPredicateType},
                          {"predicate",
                           {{"buildDefinition", std::move(definition)},
                            {"runDetails", RunDetails(o, source, report)}}}};
  return WriteFile(o.attest, JsonText(statement));
}

}  // namespace nn::app
