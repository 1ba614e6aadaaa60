#include "check/statement.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file/file.h"
#include "check/provenance.h"

namespace nn {
namespace {

std::string BaseName(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().filename().string();
}

// Resource descriptors. The files of a package are named below it.
Json Descriptors(const std::string& path, const std::vector<FileDigest>& files) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  Json out = Json::array();
  for (const FileDigest& f : files)
    out.push_back({{"name", is_folder ? BaseName(path) + "/" + f.name : f.name},
                   {"digest", {{"sha256", f.digits()}}}});
  return out;
}

Json RunDetails(const ConversionFacts& facts) {
  Json details = {
      {"builder", {{"id", NN_HOMEPAGE "/nnconvert"}, {"version", {{"nnconvert", facts.version}}}}}};
  details[provenance::kResult] = facts.report["result"];
  Json& hashes = details[provenance::kHashes] = Json::object();
  if (facts.source_hashes) hashes["input"] = provenance::HashJson(*facts.source_hashes);
  if (const auto hash = provenance::HashOf(facts.output, facts.limits))
    hashes["output"] = provenance::HashJson(*hash);
  details[provenance::kVerification] = facts.report["verification"];
  for (const auto& [name, member] : {std::pair("native_edits", provenance::kNativeEdits),
                                     std::pair("graph_edits", provenance::kGraphEdits)})
    if (facts.report.contains(name)) details[member] = facts.report[name];
  return details;
}

}  // namespace

Status WriteStatement(const std::string& path, const ConversionFacts& facts) {
  NN_ASSIGN(const std::vector<FileDigest> files, DigestModel(facts.output, facts.beside));
  Json definition = {{"buildType", provenance::kBuildType},
                     {"externalParameters",
                      {{"source", BaseName(facts.source)},
                       {"format", facts.output_format},
                       {"options", facts.options}}},
                     {"resolvedDependencies", Descriptors(facts.source, facts.source_files)}};
  const Json statement = {
      {"_type", provenance::kStatementType},
      {"subject", Descriptors(facts.output, files)},
      {"predicateType", provenance::kPredicateType},
      {"predicate",
       {{"buildDefinition", std::move(definition)}, {"runDetails", RunDetails(facts)}}}};
  return WriteFile(path, JsonText(statement));
}

}  // namespace nn
