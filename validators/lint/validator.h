#pragma once

#include "validators/rule.h"

namespace nn::lint {

// The rules for models of any format. `readable` is the rule for a file of unknown format.
RuleSet AnyRules();

}  // namespace nn::lint
