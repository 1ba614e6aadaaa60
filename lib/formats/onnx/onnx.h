// The ONNX entry of the format table. Free of generated code.
#pragma once

#include "formats/common/describe/port_kind.h"
#include "formats/format.h"

namespace nn::onnx {

const Format& OnnxFormat();

}  // namespace nn::onnx
