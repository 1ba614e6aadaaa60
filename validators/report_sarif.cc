// SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. Section numbers
// refer to that document.
#include <fmt/core.h>

#include <cctype>
#include <string>

#include "base/json.h"
#include "validators/report.h"

namespace nn {
namespace {

// A path as a URI reference (RFC 3986), with all but unreserved characters and "/" percent-encoded.
std::string UriOf(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0 || std::string_view("-._~/").find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", u);
  }
  return path.starts_with('/') ? "file://" + out : out;
}

// GitHub requires the descriptions and the help text.
Json RuleJson(const RuleInfo& rule) {
  const std::string help =
      rule.hint.empty()
          ? fmt::format("See {}; nnvalidate --explain {} has an example.", rule.clause, rule.id)
          : std::string(rule.hint);
  return {{"id", rule.id},
          {"shortDescription", {{"text", rule.statement}}},
          {"fullDescription", {{"text", fmt::format("{} ({})", rule.statement, rule.clause)}}},
          {"help", {{"text", help}}},
          {"defaultConfiguration", {{"level", SeverityName(rule.severity)}}},
          {"properties", {{"clause", rule.clause}, {"vendorEnforced", rule.vendor}}}};
}

// 3.28: the physical and the logical location.
Json LocationJson(const Location& where, const std::string& uri, size_t artifact) {
  Json physical = {{"artifactLocation", {{"uri", uri}, {"index", artifact}}}};
  if (where.offset) physical["region"] = {{"byteOffset", *where.offset}};
  Json json = {{"physicalLocation", std::move(physical)}};
  if (!where.element.empty()) {
    Json logical = {{"fullyQualifiedName", where.element}};
    if (where.index >= 0) logical["properties"] = {{"operator", where.index}};
    json["logicalLocations"] = Json::array({std::move(logical)});
  }
  return json;
}

Json ResultJson(const Finding& f, const Report& report, const std::string& uri, size_t artifact) {
  Json json = {{"ruleId", f.rule}};
  for (size_t i = 0; i < report.rules.size(); ++i)
    if (report.rules[i].id == f.rule) json["ruleIndex"] = i;
  json["level"] = SeverityName(f.severity);
  json["message"] = {{"text", f.hint.empty() ? f.message : f.message + "\n" + f.hint}};
  json["locations"] = Json::array({LocationJson(f.location, uri, artifact)});
  // 3.27.17: equal for the same finding in another run.
  json["partialFingerprints"] = {{"nnvalidate/v1", FingerprintOf(f)}};
  return json;
}

}  // namespace

std::string SarifReport(const Report& report) {
  Json rules = Json::array();
  for (const RuleInfo& rule : report.rules) rules.push_back(RuleJson(rule));
  Json artifacts = Json::array();
  Json results = Json::array();
  Json notifications = Json::array();
  for (size_t i = 0; i < report.files.size(); ++i) {
    const FileReport& file = report.files[i];
    const std::string uri = UriOf(file.path);
    artifacts.push_back({{"location", {{"uri", uri}}}});
    for (const Finding& f : file.findings) results.push_back(ResultJson(f, report, uri, i));
    if (!file.failure.empty())
      notifications.push_back({{"level", "error"},
                               {"message", {{"text", file.failure}}},
                               {"locations", Json::array({LocationJson({}, uri, i)})}});
  }
  // 3.20: a run is successful if every file could be checked, whatever the findings.
  Json invocation = {{"executionSuccessful", notifications.empty()}};
  if (!notifications.empty()) invocation["toolExecutionNotifications"] = std::move(notifications);
  Json driver = {{"name", "nnvalidate"}, {"rules", std::move(rules)}};
  if (!report.tool_version.empty()) driver["version"] = report.tool_version;
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"invocations", Json::array({std::move(invocation)})},
              {"artifacts", std::move(artifacts)},
              {"results", std::move(results)}};
  return JsonText(
      {{"$schema",
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"},
       {"version", "2.1.0"},
       {"runs", Json::array({std::move(run)})}});
}

}  // namespace nn
