#include "validators/coreml/validator.h"

#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

std::vector<std::span<const Rule>> Lists() {
  return {ModelRules(),  FeatureRules(), NetworkRules(),   LayerRules(),
          WeightRules(), WindowRules(),  ParameterRules(), ControlRules(),
          UpdateRules(), KindRules(),    ProgramRules()};
}

void Run(const NativeModel& model, const ValidateOptions& options, std::vector<Finding>& out) {
  const Subject subject(static_cast<const Model&>(model));
  RunRules<Subject>(Lists(), subject, options, out);
}

}  // namespace

RuleSet CoremlRules() {
  return {.format = "coreml",
          .readable = {.id = "COREML-FILE-001",
                       .severity = Severity::kError,
                       .statement = "The file is the wire form of a Model.",
                       .clause = "Model.proto: Model",
                       .vendor = true,
                       .hint = "Fetch or export the file again."},
          .rules = InfoOf<Subject>(Lists()),
          .run = Run};
}

}  // namespace nn::coreml
