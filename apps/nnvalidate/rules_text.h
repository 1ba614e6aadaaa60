// Rules as nnvalidate lists and explains them.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "validators/finding.h"

namespace nn::app {

// A table, or JSON: {"version": 1, "rules": [...]}.
std::string RuleList(const std::vector<RuleInfo>& rules, bool json);

// All that is known of one rule. kUsage if there is none of that id.
Result<std::string> ExplainRule(const std::string& id, bool json);

}  // namespace nn::app
