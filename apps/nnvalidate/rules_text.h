// The output of nnvalidate --list-rules and --explain.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "validators/finding.h"

namespace nn::app {

// A table, or JSON: {"version": 1, "rules": [...]}.
std::string RuleList(const std::vector<RuleInfo>& rules, bool json);

// The description of a rule, assertion (ASSERT-OPS) or target (FOR-ONNX), with an example if it has
// one. `id` is in any case of letters. kUsage for an unknown id.
Result<std::string> ExplainRule(const std::string& id, bool json);

}  // namespace nn::app
