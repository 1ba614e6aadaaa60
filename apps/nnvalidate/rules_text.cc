#include "apps/nnvalidate/rules_text.h"

#include "apps/common/table.h"
#include "apps/nnvalidate/config.h"
#include "base/json.h"
#include "base/text.h"

namespace nn::app {
namespace {

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
  if (json) return JsonText(RuleJson(r));
  const std::string_view profiles = r.vendor ? "spec, vendor, strict"
                                    : r.lint ? "strict"
                                             : "spec, strict";
  std::string out = fmt::format("{}: {}\n\n  {}\n\n  source    {}\n  profiles  {}\n", r.id,
                                SeverityName(r.severity), r.statement, r.clause, profiles);
  if (!r.hint.empty()) out += fmt::format("  hint      {}\n", r.hint);
  return out + fmt::format("  disable   nnvalidate --disable {}\n", r.id);
}

}  // namespace nn::app
