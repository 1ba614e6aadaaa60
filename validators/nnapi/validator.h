// The rules of Android NNAPI 1.0 models.
#pragma once

#include "validators/rule.h"

namespace nn::nnapi {

RuleSet NnapiRules();

}  // namespace nn::nnapi
