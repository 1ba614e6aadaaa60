#pragma once

#include "validators/example.h"

namespace nn::lint {

RuleExamples Examples();

}  // namespace nn::lint
