// The rules for TensorFlow Lite models.
#pragma once

#include "validators/rule.h"

namespace nn::tflite {

RuleSet TfliteRules();

}  // namespace nn::tflite
