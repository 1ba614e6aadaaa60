// Whether values fit the operands of an operator, by its signature: asked before an operator is
// written, and when it is read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/tflite/spec/signature.h"
#include "ir/types/type.h"

namespace nn::tflite {

OperandFacts FactsOf(const Type& type);

// Why operands do not match the signature of an operator; null types are absent operands.
std::optional<std::string> WhyNotOperands(fb::BuiltinOperator op,
                                          const std::vector<const Type*>& inputs,
                                          const std::vector<const Type*>& outputs);

// Why the kernels of an operator do not compute with the scales and zero points of its operands, or
// not what these say. Element types and ranks, without which the interpreter refuses a file, are
// the validator's.
std::optional<std::string> WhyNotScales(fb::BuiltinOperator op,
                                        const std::vector<const Type*>& inputs,
                                        const std::vector<const Type*>& outputs);

}  // namespace nn::tflite
