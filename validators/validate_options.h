// The description of nnsuite::ValidateOptions: what nnvalidate, C and Python call its members, and
// what they do.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/status.h"

namespace nn {

OptionTable ValidateOptionTable();

using RuleIds = std::set<std::string, std::less<>>;

// The ids of the rules that ids and patterns ("ONNX-LINT-*") match, in any case of letters. kUsage
// for a text that matches none.
Result<RuleIds> ExpandRuleIds(const std::vector<std::string>& patterns);

}  // namespace nn
