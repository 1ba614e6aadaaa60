// Whether the scales of values fit the operands of an operator that is read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/tflite/spec/signature.h"
#include "ir/types/type.h"

namespace nn::tflite {

OperandFacts FactsOf(const Type& type);

// Why the kernels of an operator do not compute with the scales and zero points of its operands, or
// not what these say. Element types and ranks, without which the interpreter refuses a file, are
// the validator's.
std::optional<std::string> WhyNotScales(fb::BuiltinOperator op,
                                        const std::vector<const Type*>& inputs,
                                        const std::vector<const Type*>& outputs);

}  // namespace nn::tflite
