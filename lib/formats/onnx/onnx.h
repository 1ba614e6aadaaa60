// The ONNX entry of the format table. Free of generated code.
#pragma once

#include "formats/common/describe/port_kind.h"
#include "formats/format.h"

namespace nn::onnx {

const Format& OnnxFormat();

// The kinds of the inputs without an initializer, and of the outputs.
PortKinds KindsOfPorts(const NativeModel& model);

}  // namespace nn::onnx
