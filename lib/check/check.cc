#include "check/check.h"

#include <iterator>
#include <utility>

namespace nn {

Result<std::vector<Finding>> FindingsOf(const ReadModel& model, const std::string& path,
                                        const ReadLimits& limits, const ModelChecks& checks) {
  std::vector<Finding> findings = Validate(*model.model, *model.format, checks.rules);
  const auto add = [&](std::vector<Finding> more) {
    findings.insert(findings.end(), std::move_iterator(more.begin()),
                    std::move_iterator(more.end()));
  };
  for (const TargetVersion& target : checks.targets) {
    NN_ASSIGN(std::vector<Finding> unsupported, CheckTarget(model, target));
    add(std::move(unsupported));
  }
  add(CheckAssertions(model, path, checks.assertions));
  if (checks.attestation != nullptr) {
    NN_ASSIGN(std::vector<Finding> differences,
              CheckAttestation(model, path, limits, *checks.attestation));
    add(std::move(differences));
  }
  if (checks.fingerprints) AddFingerprints(*model.model, *model.format, findings);
  return findings;
}

std::vector<RuleInfo> RulesOf(const ModelChecks& checks) {
  std::vector<RuleInfo> rules = Rules(checks.rules);
  const auto add = [&](const std::vector<RuleInfo>& more) {
    rules.insert(rules.end(), more.begin(), more.end());
  };
  for (const TargetVersion& target : checks.targets) rules.push_back(target.rule);
  add(AssertionRules(checks.assertions));
  if (checks.attestation != nullptr) add(AttestationRules());
  return rules;
}

}  // namespace nn
