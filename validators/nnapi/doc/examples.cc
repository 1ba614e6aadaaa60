#include "validators/nnapi/doc/examples.h"

#include "validators/nnapi/doc/example_models.h"
#include "validators/nnapi/doc/example_text.h"

namespace nn::nnapi {

RuleExamples Examples() {
  return {JoinExamples({ModelExamples(), OperationExamples(), WindowExamples(),
                        ElementwiseExamples(), ShapeExamples(), LookupExamples(), MatrixExamples(),
                        RequestExamples(), LintExamples()}),
          "JSON by schemas/nnapi.fbs", OperationModel};
}

}  // namespace nn::nnapi
