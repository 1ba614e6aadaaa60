// The lists of ONNX rules, one per topic.
#pragma once

#include <span>

#include "validators/onnx/rule_context.h"
#include "validators/rule.h"

namespace nn::onnx {

using Rule = nn::Rule<RuleContext>;

std::span<const Rule> ModelRules();      // model.cc: versions, operator sets, metadata
std::span<const Rule> GraphRules();      // graph.cc: names, order, scopes
std::span<const Rule> InterfaceRules();  // interface.cc: inputs, outputs, value types, annotations
std::span<const Rule> NodeRules();       // nodes.cc: operators against their signatures
std::span<const Rule> AttributeRules();  // attributes.cc
std::span<const Rule> OperatorRules();   // operators.cc: attribute values of single operators
std::span<const Rule> ChoiceRules();     // choices.cc: allowed attribute values, by table
std::span<const Rule> ControlFlowRules();  // control_flow.cc: operators that run subgraphs
std::span<const Rule> TypeRules();         // types.cc: element types along the graph
std::span<const Rule> ShapeRules();        // shapes.cc: what type and shape inference finds
std::span<const Rule> TensorRules();       // tensors.cc: constants and their data
std::span<const Rule> ExternalRules();     // external.cc: data in other files
std::span<const Rule> SparseRules();       // sparse.cc
std::span<const Rule> FunctionRules();     // functions.cc
std::span<const Rule> TrainingRules();     // training.cc
std::span<const Rule> DeviceRules();       // devices.cc: device configurations
std::span<const Rule> VersionRules();      // versions.cc: features by IR version; metadata
std::span<const Rule> LintRules();         // lint.cc: advice; the strict profile only
std::span<const Rule> SafetyRules();       // safety.cc: SONNX; the safety profile only

}  // namespace nn::onnx
