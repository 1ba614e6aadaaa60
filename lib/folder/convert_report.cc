#include "folder/convert_report.h"

#include <algorithm>
#include <array>
#include <utility>

#include "convert/verify/conversion_json.h"

namespace nn {
namespace {

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

const Verification* FailedVerification(const ConvertReport& r) {
  if (r.native_edit && r.native_edit->verification && !r.native_edit->verification->passed)
    return &*r.native_edit->verification;
  return FailedVerification(r.conversion);
}

Outcome OutcomeOf(const ConvertReport& r) {
  if (r.unchanged) return Outcome::kUnchanged;
  const Outcome outcome = OutcomeOf(r.conversion, r.error, r.dry_run);
  if (outcome == Outcome::kUnsupported || outcome == Outcome::kError) return outcome;
  if (FailedVerification(r) != nullptr) return Outcome::kRefuted;
  if (!r.copy || r.dry_run) return outcome;
  return r.native_edit ? Outcome::kEdited : Outcome::kCopied;
}

int ReportCode(const ConvertReport& r) {
  return CodeOf(OutcomeOf(r), r.error);
}

int ReportCode(const FolderReport& report) {
  int worst = 0;
  for (const ConvertReport& r : report.models) worst = WorstCode(worst, ReportCode(r));
  return worst;
}

int WorstCode(int a, int b) {
  constexpr std::array kWorstFirst = {2, 4, 1, 3, 0};
  const auto rank = [&](int code) { return std::ranges::find(kWorstFirst, code); };
  return rank(a) < rank(b) ? a : b;
}

Json FilesJson(const std::vector<FileDigest>& files) {
  Json out = Json::array();
  for (const FileDigest& f : files)
    out.push_back({{"name", f.name}, {"bytes", f.bytes}, {"digest", f.digest}});
  return out;
}

Json InputJson(const ConvertReport& r) {
  Json input = {{"path", r.input}, {"format", r.input_format}};
  if (!r.input_files.empty()) input["files"] = FilesJson(r.input_files);
  return input;
}

void AddReportJson(const ConvertReport& r, Json& json) {
  json["output"] = OutputJson(r);
  json["result"] = OutcomeName(OutcomeOf(r));
  json["dry_run"] = r.dry_run;
  json["copy"] = r.copy;
  json["renamed"] = r.renamed;
  json["written"] = r.written;
  if (r.native_edit) json["native_edits"] = edit::EditJson(*r.native_edit);
  AddConversionJson(r.conversion, r.error, json);
}

Json ReportJson(const ConvertReport& r) {
  Json json = ConversionHead();
  json["input"] = InputJson(r);
  AddReportJson(r, json);
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
    AddReportJson(r, entry);
  }
  json["summary"] = SummaryJson(report);
  return json;
}

}  // namespace nn
