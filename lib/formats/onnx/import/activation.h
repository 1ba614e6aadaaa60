// Activations that the fused operators of com.microsoft contain.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "formats/onnx/import/import.h"
#include "ir/term.h"

namespace nn::onnx {

// The value after the activation of this name; "" is none. kUnsupported for one that is not known,
// kModel if a parameter is missing.
Result<Term> Activated(const ImportContext& ctx, const Term& v, std::string_view name,
                       std::span<const float> params);

}  // namespace nn::onnx
