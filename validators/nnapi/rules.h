// The lists of NNAPI rules, by context.
#pragma once

#include "formats/nnapi/spec/constraint.h"
#include "validators/nnapi/rule_context.h"
#include "validators/rule.h"

namespace nn::nnapi {

using Rule = nn::Rule<RuleContext>;

// The check of a rule that reports what breaks some constraints.
template <Label... labels>
void Report(const RuleContext& s, Findings& f) {
  static constexpr Label kChecked[] = {labels...};
  FindMisfits(s, kChecked, [&](const Misfit& m) { f.Add(At(m.site), "{}", m.text); });
}

std::span<const Rule> ModelRules();        // model.cc: inputs, outputs, order of execution
std::span<const Rule> OperandRules();      // operands.cc: types, quantization, locations
std::span<const Rule> OperationRules();    // operations.cc: operations and their signatures
std::span<const Rule> WindowRules();       // windows.cc: convolution and pooling
std::span<const Rule> ElementwiseRules();  // elementwise.cc
std::span<const Rule> ShapeRules();        // shapes.cc: reshape, concatenation, blocks
std::span<const Rule> LookupRules();       // lookups.cc
std::span<const Rule> MatrixRules();       // matrices.cc: fully connected and recurrent
std::span<const Rule> RequestRules();      // requests.cc
std::span<const Rule> LintRules();         // lint.cc: advice, in the strict profile

}  // namespace nn::nnapi
