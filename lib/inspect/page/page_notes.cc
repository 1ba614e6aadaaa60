#include "inspect/page/page_notes.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/json/json_parse.h"
#include "base/text/text.h"

namespace nn::inspect {
namespace {

// `use` may throw the exceptions of Json.
template <typename Fn>
Status ReadReport(const std::string& path, std::string_view what, Fn use) {
  NN_ASSIGN(const Blob file, ReadFile(path));
  std::string why;
  try {
    const auto json =
        Json::parse(std::string_view(reinterpret_cast<const char*>(file.data()), file.size()));
    return use(json);
  } catch (const Json::exception& e) {
    why = JsonErrorText(e);
  }
  return tl::unexpected(ParseError("{}: not a report of {}: {}", path, what, why));
}

// The operator of the main graph that the element of a finding is part of, by its number there.
std::optional<size_t> NumberIn(std::string_view element, const Format& format) {
  for (const std::string_view list : format.operator_lists) {
    if (!element.starts_with(list) || element.substr(list.size()).substr(0, 1) != "[") continue;
    const std::string_view rest = element.substr(list.size() + 1);
    size_t number = 0;
    const auto r = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (r.ec == std::errc() && r.ptr != rest.data() + rest.size() && *r.ptr == ']') return number;
  }
  return std::nullopt;
}

// Indices of the operators of the main graph.
std::vector<size_t> MainOperatorsOf(const ModelSummary& summary) {
  std::vector<size_t> main;
  for (size_t i = 0; i < summary.operators.size(); ++i)
    if (summary.operators[i].scope.empty()) main.push_back(i);
  return main;
}

const Json* FileIn(const Json& files, const std::string& path) {
  std::error_code error;
  for (const Json& f : files)
    if (f.at("path") == path || std::filesystem::equivalent(f.at("path"), path, error)) return &f;
  return files.size() == 1 ? &files[0] : nullptr;
}

// Noise over signal, of a value in a report of --against.
double ErrorOf(const Json& value) {
  if (value.contains("mismatch")) return 1;
  if (value.at("identical").get<bool>()) return 0;
  const Json& snr = value.at("snr_db");
  if (snr.is_null()) return value.at("max_absolute").get<double>() == 0 ? 0 : 1;
  return std::pow(10, -snr.get<double>() / 20);
}

Status ReadFindings(const std::string& path, const LoadedModel& model, PageNotes& notes) {
  return ReadReport(path, "nnvalidate --format json", [&](const Json& report) -> Status {
    const Json* file = FileIn(report.at("files"), model.path);
    if (file == nullptr)
      return tl::unexpected(
          UsageError("--findings {}: the report does not have {}", path, model.path));
    const std::vector<size_t> main = MainOperatorsOf(model.summary);
    for (const Json& f : file->at("findings")) {
      PageNotes::Finding finding;
      const Json& where = f.at("location");
      const std::string element = where.value("element", "");
      const auto number = NumberIn(element, *model.read.format);
      if (number && *number < main.size()) finding.op = main[*number];
      finding.severity = f.at("severity").get<std::string>();
      finding.rule = f.at("rule").get<std::string>();
      finding.message = f.at("message").get<std::string>();
      finding.hint = f.value("hint", "");
      notes.findings.push_back(std::move(finding));
    }
    return {};
  });
}

Status ReadTimes(const std::string& path, const LoadedModel& model, PageNotes& notes) {
  const std::vector<size_t> main = MainOperatorsOf(model.summary);
  return ReadReport(path, "nnrun --bench --profile --format json", [&](const Json& report) {
    for (const Json& step : report.at("steps")) {
      const double ms = step.at("ms").get<double>();
      const Json& sources = step.at("sources");
      if (sources.empty() || sources[0].get<size_t>() >= main.size())
        notes.other_time += ms;
      else
        notes.times.emplace_back(main[sources[0].get<size_t>()], ms);
    }
    return Status();
  });
}

Status ReadErrors(const std::string& path, const LoadedModel& model, PageNotes& notes) {
  std::unordered_map<std::string_view, size_t> writers;
  for (const size_t op : MainOperatorsOf(model.summary))
    for (const std::string& name : model.summary.operators[op].outputs) writers.emplace(name, op);
  return ReadReport(path, "nnrun --against --format json", [&](const Json& report) {
    for (const Json& value : report.at("against").at("values")) {
      const auto writer = writers.find(value.at("name").get<std::string>());
      if (writer != writers.end()) notes.errors.emplace_back(writer->second, ErrorOf(value));
    }
    return Status();
  });
}

}  // namespace

OptionTable PageReportTable() {
  using nnsuite::PageReports;
  static const std::vector<OptionField> fields = {
      Option<&PageReports::findings>(
          "findings",
          {.help = "With html: show the findings of this report of nnvalidate --format json",
           .value = "FILE"}),
      Option<&PageReports::times>(
          "times", {.help = "With html: show the times of this report of nnrun --bench --profile "
                            "--format json",
                    .value = "FILE"}),
      Option<&PageReports::errors>(
          "errors", {.help = "With html: show the differences in this report of nnrun MODEL "
                             "--against OTHER --format json",
                     .value = "FILE"}),
  };
  return fields;
}

Result<PageNotes> ReadNotes(const nnsuite::PageReports& reports, const LoadedModel& model) {
  PageNotes notes;
  if (!reports.findings.empty()) NN_RETURN_IF_ERROR(ReadFindings(reports.findings, model, notes));
  if (!reports.times.empty()) NN_RETURN_IF_ERROR(ReadTimes(reports.times, model, notes));
  if (!reports.errors.empty()) NN_RETURN_IF_ERROR(ReadErrors(reports.errors, model, notes));
  return notes;
}

}  // namespace nn::inspect
