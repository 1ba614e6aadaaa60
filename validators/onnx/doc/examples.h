#pragma once

#include "validators/example.h"

namespace nn::onnx {

RuleExamples Examples();

}  // namespace nn::onnx
