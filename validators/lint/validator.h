#pragma once

#include "validators/rule.h"

namespace nn::lint {

// The rules for models of any format. `readable` is the rule that a file of no known format breaks.
RuleSet AnyRules();

}  // namespace nn::lint
