#include "validators/validate_options.h"

#include <fnmatch.h>

#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text/text.h"
#include "validators/deployment.h"
#include "validators/runner.h"

namespace nn {
namespace {

using nnsuite::ValidateOptions;

// --enable and --disable.
OptionField RuleIdsOption(std::string_view name, std::string_view help,
                          RuleIds ValidateOptions::*member) {
  using Texts = std::vector<std::string>;
  return ComputedOption<ValidateOptions, Texts>(
      name, {.help = help, .value = "ID,ID", .lists = true},
      [member](const ValidateOptions& o) {
        return std::optional(Texts((o.*member).begin(), (o.*member).end()));
      },
      [member](ValidateOptions& o, const Texts& patterns) -> Status {
        NN_ASSIGN(RuleIds ids, ExpandRuleIds(patterns));
        (o.*member).merge(ids);
        return {};
      });
}

}  // namespace

OptionTable ValidateOptionTable() {
  static const std::vector<OptionField> fields = {
      Option<&ValidateOptions::profile>(
          "profile",
          {.help = "Rules to apply: spec (the default), the published documents; vendor, only what "
                   "the format owner's own tools reject; strict, spec and lint rules; safety, spec "
                   "and the draft requirements of SONNX, the safety-related profile of ONNX",
           .choices = {ProfileNames().begin(), ProfileNames().end()}}),
      RuleIdsOption("enable",
                    "Apply these rules, regardless of the profile; patterns such as "
                    "\"ONNX-LINT-*\" match ids",
                    &ValidateOptions::enable),
      RuleIdsOption("disable", "Do not apply these rules", &ValidateOptions::disable),
      Option<&ValidateOptions::deployment_target>(
          "deployment-target",
          {.help = "Also report what this system and earlier ones do not read of a Core ML model, "
                   "such as operations of later operation sets",
           .choices = {kDeploymentTargets.begin(), kDeploymentTargets.end()}}),
      Option<&ValidateOptions::fingerprints>(
          "fingerprints", {.help = "State what identifies a finding in another export of the model",
                           .surfaces = kInBindings}),
  };
  return fields;
}

Result<RuleIds> ExpandRuleIds(const std::vector<std::string>& patterns) {
  const std::vector<RuleInfo> rules = AllRules();
  RuleIds ids;
  for (std::string pattern : patterns) {
    for (char& c : pattern) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    bool found = false;
    for (const RuleInfo& rule : rules) {
      const std::string id(rule.id);
      if (fnmatch(pattern.c_str(), id.c_str(), 0) != 0) continue;
      ids.insert(id);
      found = true;
    }
    if (!found)
      return UsageError("unknown rule {}; nnvalidate --list-rules --enable \"*\" lists all rules",
                        Quote(pattern));
  }
  return ids;
}

}  // namespace nn
