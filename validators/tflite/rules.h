// The lists of TensorFlow Lite rules, one a theme.
#pragma once

#include "validators/rule.h"
#include "validators/tflite/subject.h"

namespace nn::tflite {

using Rule = nn::Rule<Subject>;

std::span<const Rule> ModelRules();     // model.cc: version, buffers, codes, signatures
std::span<const Rule> GraphRules();     // graph.cc: indices and order
std::span<const Rule> TensorRules();    // tensors.cc: shapes, data, quantisation, sparsity
std::span<const Rule> OperatorRules();  // operators.cc: counts and options

}  // namespace nn::tflite
