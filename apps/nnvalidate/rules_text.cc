#include "apps/nnvalidate/rules_text.h"

#include <sstream>

#include "apps/common/table.h"
#include "apps/nnvalidate/config.h"
#include "base/json.h"
#include "base/text.h"

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
  return {{"id", r.id},
          {"severity", SeverityName(r.severity)},
          {"vendor", r.vendor},
          {"lint", r.lint},
          {"statement", r.statement},
          {"clause", r.clause},
          {"hint", r.hint}};
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

Result<std::string> ExplainRule(const std::string& id, bool json) {
  NN_RETURN_IF_ERROR(CheckRuleIds({id}));
  const RuleInfo r = *FindRule(id);
  if (json) {
    Json rule = RuleJson(r);
    if (const auto e = FindExample(id))
      rule["example"] = {{"language", e->language}, {"breaks", e->broken}, {"keeps", e->near}};
    return JsonText(rule);
  }
  const std::string_view profiles = r.vendor ? "spec, vendor, strict"
                                    : r.lint ? "strict"
                                             : "spec, strict";
  std::string out = fmt::format("{}: {}\n\n  {}\n\n  source    {}\n  profiles  {}\n", r.id,
                                SeverityName(r.severity), r.statement, r.clause, profiles);
  if (!r.hint.empty()) out += fmt::format("  hint      {}\n", r.hint);
  out += fmt::format("  disable   nnvalidate --disable {}\n", r.id);
  if (const auto e = FindExample(id))
    out += fmt::format("\n  Breaks it ({}):\n{}\n  Keeps it:\n{}", e->language,
                       ExampleLines(*e, e->broken), ExampleLines(*e, e->near));
  return out;
}

}  // namespace nn::app
