// SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. Section numbers
// refer to that document.
#include <fmt/core.h>

#include <cctype>
#include <map>
#include <string>

#include "base/json/json.h"
#include "validators/documents.h"
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

// Where the rule is documented: the document of its clause, or else the project's list of rules.
std::string HelpUri(const RuleInfo& rule, const std::string& tool_uri) {
  const std::string uri = DocumentUri(rule.clause);
  return uri.empty() && !tool_uri.empty() ? tool_uri + "/blob/main/validators/RULES.md" : uri;
}

// GitHub requires the descriptions and the help text.
Json RuleJson(const RuleInfo& rule, const std::string& tool_uri) {
  const std::string help =
      rule.hint.empty()
          ? fmt::format("See {}; nnvalidate --explain {} has an example.", rule.clause, rule.id)
          : std::string(rule.hint);
  Json json = {
      {"id", rule.id},
      {"shortDescription", {{"text", rule.statement}}},
      {"fullDescription", {{"text", fmt::format("{} ({})", rule.statement, rule.clause)}}}};
  if (const std::string uri = HelpUri(rule, tool_uri); !uri.empty()) json["helpUri"] = uri;
  json["help"] = {{"text", help}};
  json["defaultConfiguration"] = {{"level", SeverityName(rule.severity)}};
  json["properties"] = {{"clause", rule.clause}, {"vendorEnforced", rule.vendor}};
  return json;
}

// 3.28: the physical and the logical location. Consumers require a region; without an offset, it is
// the beginning of the file.
Json LocationJson(const Location& where, const std::string& uri, size_t artifact) {
  Json physical = {{"artifactLocation", {{"uri", uri}, {"index", artifact}}}};
  if (where.offset)
    physical["region"] = {{"byteOffset", *where.offset}};
  else
    physical["region"] = {{"startLine", 1}};
  Json json = {{"physicalLocation", std::move(physical)}};
  if (!where.element.empty()) {
    Json logical = {{"fullyQualifiedName", where.element}};
    if (where.index >= 0) logical["properties"] = {{"operator", where.index}};
    json["logicalLocations"] = Json::array({std::move(logical)});
  }
  return json;
}

// The rules with findings, in the order of the report's rules, and their positions.
class FiredRules {
 public:
  explicit FiredRules(const Report& report) {
    std::map<std::string_view, bool> fired;
    for (const FileReport& file : report.files) {
      for (const Finding& f : file.findings) fired[f.rule] = true;
      for (const RestOfRule& r : file.rest) fired[r.rule] = true;
    }
    for (const RuleInfo& rule : report.rules) {
      if (!fired[rule.id]) continue;
      positions_[std::string(rule.id)] = rules_.size();
      rules_.push_back(RuleJson(rule, report.tool_uri));
    }
  }

  // 3.27.5, 3.27.6: the id and the position of a rule.
  Json Reference(const std::string& id) const {
    Json json = {{"ruleId", id}};
    if (const auto it = positions_.find(id); it != positions_.end()) json["ruleIndex"] = it->second;
    return json;
  }
  const Json& json() const { return rules_; }

 private:
  Json rules_ = Json::array();
  std::map<std::string, size_t, std::less<>> positions_;
};

Json ResultJson(const Finding& f, const FiredRules& rules, const std::string& uri,
                size_t artifact) {
  Json json = rules.Reference(f.rule);
  json["level"] = SeverityName(f.severity);
  json["message"] = {{"text", f.hint.empty() ? f.message : f.message + "\n" + f.hint}};
  json["locations"] = Json::array({LocationJson(f.location, uri, artifact)});
  // 3.27.17: equal for the same finding in another run.
  if (!f.fingerprint.empty()) json["partialFingerprints"] = {{"nnvalidate/v2", f.fingerprint}};
  return json;
}

Json RestJson(const RestOfRule& rest, const FiredRules& rules, const std::string& uri,
              size_t artifact) {
  return ResultJson({rest.rule, rest.severity, RestText(rest), {}, {}}, rules, uri, artifact);
}

}  // namespace

std::string SarifReport(const Report& report) {
  const FiredRules rules(report);
  Json artifacts = Json::array();
  Json results = Json::array();
  Json notifications = Json::array();
  for (size_t i = 0; i < report.files.size(); ++i) {
    const FileReport& file = report.files[i];
    const std::string uri = UriOf(file.path);
    artifacts.push_back({{"location", {{"uri", uri}}}});
    for (const Finding& f : file.findings) results.push_back(ResultJson(f, rules, uri, i));
    for (const RestOfRule& r : file.rest) results.push_back(RestJson(r, rules, uri, i));
    if (!file.failure.empty())
      notifications.push_back({{"level", "error"},
                               {"message", {{"text", file.failure}}},
                               {"locations", Json::array({LocationJson({}, uri, i)})}});
  }
  // 3.20: a run is successful if every file could be checked, whatever the findings.
  Json invocation = {{"executionSuccessful", notifications.empty()}};
  for (const StaleEntry& stale : report.stale)
    notifications.push_back({{"level", "note"},
                             {"message", {{"text", StaleText(stale)}}},
                             {"associatedRule", {{"id", stale.rule}}}});
  if (!notifications.empty()) invocation["toolExecutionNotifications"] = std::move(notifications);
  Json driver = {{"name", "nnvalidate"}, {"rules", rules.json()}};
  if (!report.tool_uri.empty()) driver["informationUri"] = report.tool_uri;
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
