// The ONNX entry of the format table. Free of generated code.
#pragma once

#include "formats/format.h"

namespace nn::onnx {

const Format& OnnxFormat();

}  // namespace nn::onnx
