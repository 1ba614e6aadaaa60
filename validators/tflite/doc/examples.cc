#include "validators/tflite/doc/examples.h"

#include "validators/tflite/doc/example_models.h"
#include "validators/tflite/doc/example_text.h"

namespace nn::tflite {

RuleExamples Examples() {
  return {JoinExamples({ModelExamples(), GraphExamples(), TensorExamples(), OperatorExamples(),
                        ConvolutionExamples(), ShapeExamples(), IndexExamples(),
                        QuantizationExamples(), CallExamples(), LintExamples()}),
          "JSON by schemas/tflite.fbs", OperatorModel};
}

}  // namespace nn::tflite
