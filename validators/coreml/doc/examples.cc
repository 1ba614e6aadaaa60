#include "validators/coreml/doc/examples.h"

#include "validators/coreml/doc/example_models.h"

namespace nn::coreml {

RuleExamples Examples() {
  return {JoinExamples(
              {ModelExamples(),       FeatureExamples(),     NetworkExamples(),   LayerExamples(),
               WeightExamples(),      WindowExamples(),      ParameterExamples(), ControlExamples(),
               TrainingExamples(),    KindExamples(),        ProgramExamples(),   AxisExamples(),
               ListExamples(),        PipelineExamples(),    TableExamples(),     TreeExamples(),
               EngineeringExamples(), SuppressionExamples(), AppleExamples(),     LintExamples()}),
          "protobuf text of a Model"};
}

}  // namespace nn::coreml
