#pragma once

#include <span>

#include "validators/clause.h"

namespace nn::onnx {

// All tables together.
std::span<const Clause> Clauses();

std::span<const Clause> ProtoClauses();     // clauses_proto.cc: onnx.proto, IR versions 3 to 14
std::span<const Clause> IrClauses();        // clauses_ir.cc: IR.md, ExternalData.md
std::span<const Clause> OperatorClauses();  // clauses_operators.cc: Operators.md, Operators-ml.md
std::span<const Clause> SonnxClauses();     // clauses_sonnx.cc: the safety-related profile

}  // namespace nn::onnx
