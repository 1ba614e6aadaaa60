// The JSON form of reports.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "apps/nnconvert/report/report.h"
#include "convert/verify/conversion_json.h"

namespace nn::app {
namespace {

Json InputJson(const ConvertReport& r) {
  Json input = {{"path", r.input}, {"format", r.input_format}};
  if (!r.input_files.empty()) input["files"] = FilesJson(r.input_files);
  return input;
}

Json OutputJson(const ConvertReport& r) {
  Json output = {{"path", r.output}, {"format", r.output_format}};
  if (r.bytes) output["bytes"] = *r.bytes;
  const auto& written = r.conversion.written;
  if (written && !written->side_files.empty()) {
    Json files = Json::array();
    for (const auto& [name, bytes] : written->side_files)
      files.push_back({{"name", name}, {"bytes", bytes}});
    output["side_files"] = std::move(files);
  }
  if (!r.output_files.empty()) output["files"] = FilesJson(r.output_files);
  return output;
}

// The members of a report that the report of several conversions does not repeat.
void AddConversion(const ConvertReport& r, Json& json) {
  const Conversion& c = r.conversion;
  json["output"] = OutputJson(r);
  json["result"] = OutcomeName(OutcomeOf(r));
  json["dry_run"] = r.dry_run;
  json["copy"] = r.copy;
  json["renamed"] = r.renamed;
  json["written"] = r.written;
  if (r.native_edit) json["native_edits"] = edit::EditJson(*r.native_edit);
  AddConversionJson(c, r.error, json);
}

Json SummaryJson(const FolderReport& report) {
  Json summary = {{"models", report.models.size()}};
  std::array<uint64_t, kOutcomes> counts{};
  for (const ConvertReport& r : report.models) ++counts[static_cast<size_t>(OutcomeOf(r))];
  for (size_t i = 0; i < kOutcomes; ++i)
    summary[std::string(OutcomeName(static_cast<Outcome>(i)))] = counts[i];
  summary["skipped_files"] = report.skipped;
  return summary;
}

}  // namespace

Json FilesJson(const std::vector<FileDigest>& files) {
  Json out = Json::array();
  for (const FileDigest& f : files)
    out.push_back({{"name", f.name}, {"bytes", f.bytes}, {"digest", f.digest}});
  return out;
}

Json ReportJson(const ConvertReport& r) {
  Json json = ConversionHead();
  json["input"] = InputJson(r);
  AddConversion(r, json);
  return json;
}

Json ReportJson(const TargetsReport& report) {
  Json json = ConversionHead();
  json["input"] = InputJson(report.targets.front());
  Json& targets = json["targets"] = Json::array();
  for (const ConvertReport& r : report.targets) AddConversion(r, targets.emplace_back());
  return json;
}

Json ReportJson(const FolderReport& report) {
  Json json = ConversionHead();
  json["input"] = {{"path", report.input}};
  json["output"] = {{"path", report.output}, {"format", report.output_format}};
  json["dry_run"] = report.dry_run;
  Json& conversions = json["conversions"] = Json::array();
  for (const ConvertReport& r : report.models) {
    Json& entry = conversions.emplace_back();
    entry["input"] = InputJson(r);
    AddConversion(r, entry);
  }
  json["summary"] = SummaryJson(report);
  return json;
}

}  // namespace nn::app
