#pragma once

#include <span>

#include "validators/clause.h"

namespace nn::coreml {

std::span<const Clause> Clauses();

// The parts of Clauses().
std::span<const Clause> ModelClauses();
std::span<const Clause> NetworkClauses();
std::span<const Clause> LayerClauses();
std::span<const Clause> ElementwiseClauses();
std::span<const Clause> TensorClauses();

}  // namespace nn::coreml
