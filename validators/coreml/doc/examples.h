#pragma once

#include "validators/example.h"

namespace nn::coreml {

RuleExamples Examples();

}  // namespace nn::coreml
