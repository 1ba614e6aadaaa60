#pragma once

#include <span>

#include "validators/clause.h"

namespace nn::tflite {

std::span<const Clause> Clauses();

}  // namespace nn::tflite
