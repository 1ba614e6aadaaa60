// What types.hal of android.hardware.neuralnetworks@1.0 requires, sentence by sentence, and what
// Android's own validation does.
#pragma once

#include <span>

#include "validators/clause.h"

namespace nn::nnapi {

std::span<const Clause> Clauses();

// Its parts: models, operands and requests; operations by name.
std::span<const Clause> ModelClauses();
std::span<const Clause> OperationClausesAToH();
std::span<const Clause> OperationClausesLToT();
std::span<const Clause> AndroidClauses();

}  // namespace nn::nnapi
