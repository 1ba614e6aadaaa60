// The rules of ONNX models.
#pragma once

#include "validators/rule.h"

namespace nn::onnx {

RuleSet OnnxRules();

}  // namespace nn::onnx
