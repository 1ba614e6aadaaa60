// The requirements of types.hal in android.hardware.neuralnetworks@1.0, sentence by sentence, and
// the checks of Android's own validation.
#pragma once

#include <span>

#include "validators/clause.h"

namespace nn::nnapi {

// Why no rule checks a requirement on the values that an operation computes.
inline constexpr const char* kComputed =
    "only running the model shows what it computes; nnrun's reference implements this";

std::span<const Clause> Clauses();

// The parts: models, operands and requests; operations by name; Android's checks.
std::span<const Clause> ModelClauses();
std::span<const Clause> OperationClausesAToH();
std::span<const Clause> OperationClausesLToT();
std::span<const Clause> AndroidClauses();

}  // namespace nn::nnapi
