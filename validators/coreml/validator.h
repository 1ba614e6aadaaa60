// The rules of Core ML models.
#pragma once

#include "validators/rule.h"

namespace nn::coreml {

RuleSet CoremlRules();

}  // namespace nn::coreml
