// Checks of the operands of recurrent operators.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.h"
#include "ir/op_def.h"

namespace nn {

// kModel unless the input is absent, not known, or of the required shape.
Status RequireOperandShape(const InferContext& ctx, size_t input, std::string_view name,
                           const Dims& want);

}  // namespace nn
