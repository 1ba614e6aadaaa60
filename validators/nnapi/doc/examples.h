#pragma once

#include "validators/example.h"

namespace nn::nnapi {

RuleExamples Examples();

}  // namespace nn::nnapi
