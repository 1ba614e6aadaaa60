// The lists of Core ML rules, one for each topic.
#pragma once

#include "validators/coreml/rule_context.h"
#include "validators/rule.h"

namespace nn::coreml {

using Rule = nn::Rule<RuleContext>;

// Rule::check of the rule that layers keep a constraint of the table of signatures.
void CheckConstraint(const Constraint& constraint, const RuleContext& s, Findings& f);
template <Label label>
void Holds(const RuleContext& s, Findings& f) {
  CheckConstraint(ConstraintOf(label), s, f);
}
// The ids of the rules that report the constraint.
std::vector<std::string_view> RulesOf(Label label);

std::span<const Rule> ModelRules();      // model.cc: version, kind, interface as a whole
std::span<const Rule> EnumRules();       // enums.cc
std::span<const Rule> FeatureRules();    // features.cc: types of inputs and outputs
std::span<const Rule> PipelineRules();   // pipelines.cc: pipelines, predicted features
std::span<const Rule> NetworkRules();    // network.cc: blobs and their order, shape mappings
std::span<const Rule> LayerRules();      // layers.cc: signatures of layers
std::span<const Rule> WeightRules();     // weights.cc
std::span<const Rule> WindowRules();     // windows.cc: kernels, strides, padding, resampling
std::span<const Rule> AxisRules();       // axes.cc: axes, ranks that parameters determine
std::span<const Rule> RankRules();       // published_ranks.cc
std::span<const Rule> ParameterRules();  // parameters.cc: shapes, lists, numbers of other layers
std::span<const Rule> ControlRules();    // control.cc: loops and branches
std::span<const Rule> UpdateRules();     // update.cc: on-device training
// Models that are not networks.
std::span<const Rule> KindRules();         // kinds.cc: features of model types, nearest neighbors
std::span<const Rule> TableRules();        // tables.cc: linear models, support vectors, ...
std::span<const Rule> TreeRules();         // trees.cc
std::span<const Rule> EngineeringRules();  // engineering.cc: models that prepare features
std::span<const Rule> SuppressionRules();  // suppression.cc: non-maximum suppression
std::span<const Rule> AppleRules();        // apple.cc: text, feature prints, sound, custom, linked
std::span<const Rule> LintRules();         // lint.cc: advice
std::span<const Rule> ProgramRules();      // program.cc: ML programs and packages
std::span<const Rule> OperationRules();    // operations.cc: operations of ML programs
std::span<const Rule> TargetRules();       // deployment.cc: what a deployment target reads

}  // namespace nn::coreml
