// Operands of several element types, and quantized ones.
#pragma once

#include <optional>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/term.h"

namespace nn::coreml::program {

// The operand in float32: itself if it is.
Term Wide(Value* operand);

// The operands, null ones included, in the type that they have, or in float32 if they have several,
// as those of iOS17 may. Bools stay as they are.
Terms InOneType(const std::vector<Value*>& operands);

// The numbers that a dequantized constant represents; nullopt for other values.
Result<std::optional<Tensor>> DequantizedConstant(const Value* value);

}  // namespace nn::coreml::program
