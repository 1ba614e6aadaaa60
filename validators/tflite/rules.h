// The lists of TensorFlow Lite rules, one for each topic.
#pragma once

#include "validators/rule.h"
#include "validators/tflite/rule_context.h"

namespace nn::tflite {

using Rule = nn::Rule<RuleContext>;

std::span<const Rule> ModelRules();     // model.cc: version, buffers, codes, signatures
std::span<const Rule> GraphRules();     // graph.cc: indices and order
std::span<const Rule> TensorRules();    // tensors.cc: shapes, data, quantization
std::span<const Rule> SparsityRules();  // sparsity.cc
std::span<const Rule> OperatorRules();  // operators.cc: signatures, convolutions, matrix products
std::span<const Rule> VersionRules();   // versions.cc: versions of options
std::span<const Rule> ShapeRules();     // shapes.cc
// quantization.cc: quantization, recurrent operators, control flow, resources
std::span<const Rule> QuantizationRules();
std::span<const Rule> VariableRules();  // variables.cc: resource variables
std::span<const Rule> LintRules();      // lint.cc: advice

// The check of a rule whose problems are already found.
template <Check check>
void Replay(const RuleContext& s, Findings& f) {
  for (const Problem& p : s.problems().of(check)) f.Add(p.where, "{}", p.message);
}

}  // namespace nn::tflite
