// Axes of size 1 that a writer adds and removes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/onnx/export/export.h"

namespace nn::onnx {

// Adds result = op(value) of one axis, where `op` is Unsqueeze or Squeeze. The axes are an
// attribute before operator set 13, and an input from there on.
void AddUnitAxis(ExportContext& ctx, std::string_view op, const std::string& result,
                 const std::string& value, int64_t axis);

}  // namespace nn::onnx
