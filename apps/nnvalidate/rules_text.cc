#include "apps/nnvalidate/rules_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <sstream>

#include "base/json/json.h"
#include "base/text/table.h"
#include "base/text/text.h"
#include "check/attestation.h"
#include "validators/assertions.h"
#include "validators/rule.h"
#include "validators/runner.h"
#include "validators/targets.h"

namespace nn::app {
namespace {

// The lines of an example that differ from its base, indented; long lines lose their middle.
std::string ExampleLines(const ExampleTexts& example, const std::string& text) {
  constexpr size_t kEnd = 80;  // characters
  std::istringstream changed(ChangedLines(example.base, text));
  std::string out;
  for (std::string line; std::getline(changed, line);) {
    if (line.size() > 3 * kEnd)
      line = line.substr(0, kEnd) + " ... " + line.substr(line.size() - kEnd);
    out += "    " + EscapeControls(line) + "\n";
  }
  return out.empty() ? "    (the unchanged model)\n" : out;
}

Json RuleJson(const RuleInfo& r) {
  return {{"id", r.id},         {"severity", SeverityName(r.severity)},
          {"vendor", r.vendor}, {"lint", r.lint},
          {"safety", r.safety}, {"statement", r.statement},
          {"clause", r.clause}, {"hint", r.hint}};
}

// The names of the profiles that have the rule.
std::vector<std::string_view> ProfilesOf(const RuleInfo& rule) {
  std::vector<std::string_view> names;
  for (const std::string_view name : ProfileNames())
    if (IsApplied(rule, {*ParseProfile(name)})) names.push_back(name);
  return names;
}

Result<RuleInfo> FindAny(const std::string& text) {
  std::string id = text;
  for (char& c : id) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const auto& rules : {AllRules(), TargetRules(), AllAssertionRules(), AttestationRules()})
    for (const RuleInfo& rule : rules)
      if (rule.id == id) return rule;
  return UsageError("unknown rule {}; nnvalidate --list-rules --enable \"*\" lists all rules",
                    Quote(text));
}

}  // namespace

std::string RuleList(const std::vector<RuleInfo>& rules, bool json) {
  Table table({{"rule"}, {"severity"}, {"vendor"}, {"statement"}, {"source"}});
  Json list = Json::array();
  for (const RuleInfo& r : rules) {
    table.Add({std::string(r.id), std::string(SeverityName(r.severity)), r.vendor ? "yes" : "no",
               std::string(r.statement), std::string(r.clause)});
    list.push_back(RuleJson(r));
  }
  return json ? JsonText({{"version", 1}, {"rules", std::move(list)}}) : table.Text();
}

Result<std::string> ExplainRule(const std::string& text, bool json) {
  NN_ASSIGN(const RuleInfo r, FindAny(text));
  const auto example = FindExample(r.id);
  if (json) {
    Json rule = RuleJson(r);
    if (example)
      rule["example"] = {
          {"language", example->language}, {"breaks", example->broken}, {"keeps", example->near}};
    return JsonText(rule);
  }
  std::string out = fmt::format("{}: {}\n\n  {}\n\n", r.id, SeverityName(r.severity), r.statement);
  // The clause of an assertion or target is its option, and without the option it is not checked.
  const bool is_option = r.clause.starts_with("--");
  out += fmt::format("  {}  {}\n", is_option ? "option  " : "source  ", r.clause);
  if (!is_option) out += fmt::format("  profiles  {}\n", fmt::join(ProfilesOf(r), ", "));
  if (!r.hint.empty()) out += fmt::format("  hint      {}\n", r.hint);
  if (!is_option) out += fmt::format("  disable   nnvalidate --disable {}\n", r.id);
  if (example)
    out +=
        fmt::format("\n  Breaks it ({}):\n{}\n  Keeps it:\n{}", example->language,
                    ExampleLines(*example, example->broken), ExampleLines(*example, example->near));
  return out;
}

}  // namespace nn::app
