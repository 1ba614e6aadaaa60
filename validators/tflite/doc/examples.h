#pragma once

#include "validators/example.h"

namespace nn::tflite {

RuleExamples Examples();

}  // namespace nn::tflite
