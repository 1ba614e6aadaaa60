// The lists of TensorFlow Lite rules, one a theme.
#pragma once

#include "validators/rule.h"
#include "validators/tflite/subject.h"

namespace nn::tflite {

using Rule = nn::Rule<Subject>;

std::span<const Rule> ModelRules();     // model.cc: version, buffers, codes, signatures
std::span<const Rule> GraphRules();     // graph.cc: indices and order
std::span<const Rule> TensorRules();    // tensors.cc: shapes, data, quantisation
std::span<const Rule> SparsityRules();  // sparsity.cc
std::span<const Rule> OperatorRules();  // operators.cc: signatures, convolutions, products
std::span<const Rule> VersionRules();   // versions.cc: options and versions of operators
std::span<const Rule> ShapeRules();     // shapes.cc
// quantisation.cc, and recurrent operators, control flow, resources
std::span<const Rule> QuantisationRules();
std::span<const Rule> LintRules();  // lint.cc: advice

// The check of a rule that preparing the model has made already.
template <Check check>
void Replay(const Subject& s, Findings& f) {
  for (const Problem& p : s.problems().of(check)) f.Add(p.where, "{}", p.message);
}

}  // namespace nn::tflite
