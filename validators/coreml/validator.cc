#include "validators/coreml/validator.h"

#include <array>
#include <utility>
#include <vector>

#include "validators/coreml/rules.h"
#include "validators/deployment.h"

namespace nn::coreml {
namespace {

constexpr std::string_view kExamples =
#include "embed/coreml_examples.inc"
    ;
constexpr std::string_view kClauses =
#include "embed/coreml_clauses.inc"
    ;

std::vector<std::span<const Rule>> Lists() {
  return {ModelRules(),     EnumRules(),        FeatureRules(),     PipelineRules(), NetworkRules(),
          LayerRules(),     WeightRules(),      WindowRules(),      AxisRules(),     RankRules(),
          ParameterRules(), ControlRules(),     UpdateRules(),      KindRules(),     TableRules(),
          TreeRules(),      EngineeringRules(), SuppressionRules(), AppleRules(),    ProgramRules(),
          OperationRules(), TargetRules(),      LintRules()};
}

template <size_t... labels>
constexpr auto Checks(std::index_sequence<labels...>) {
  return std::array{&Holds<static_cast<Label>(labels)>...};
}

void Run(const NativeModel& model, const Format&, const ValidateOptions& options,
         std::vector<Finding>& out) {
  const RuleContext context(ModelOf(model), SpecificationVersionFor(options.deployment_target));
  RunRules<RuleContext>(Lists(), context, options, out);
}

}  // namespace

std::vector<std::string_view> RulesOf(Label label) {
  static constexpr auto kChecks = Checks(std::make_index_sequence<kLabels>());
  std::vector<std::string_view> ids;
  for (const auto& list : Lists())
    for (const Rule& rule : list)
      if (rule.check == kChecks[static_cast<size_t>(label)]) ids.push_back(rule.info.id);
  return ids;
}

RuleSet CoremlRules() {
  return {
      .format = "coreml",
      .readable =
          {.id = "COREML-FILE-001",
           .statement = "The file is a serialized Model message.",
           .clause = "Model.proto: Model",
           .vendor = true,
           .hint = "The file or package is damaged or incomplete; download or export it again."},
      .rules = InfoOf<RuleContext>(Lists()),
      .run = Run,
      .examples = kExamples,
      .language = "protobuf text of a Model",
      .clauses = kClauses,
      .operator_lists = {"neuralNetwork.layers", "neuralNetworkClassifier.layers",
                         "neuralNetworkRegressor.layers"}};
}

}  // namespace nn::coreml
