#include "validators/onnx/doc/examples.h"

#include "validators/onnx/doc/example_models.h"

namespace nn::onnx {
namespace {

// $T is the type of a float vector of two elements, and $D is the data of one.
std::string Expand(const std::string& text) {
  std::string full;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (rest.starts_with("$T"))
      full += "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }";
    else if (rest.starts_with("$D"))
      full += "data_type: 1 dims: 2 float_data: [1, 2]";
    else {
      full += text[i];
      continue;
    }
    ++i;
  }
  return full;
}

}  // namespace

RuleExamples Examples() {
  return {JoinExamples({ModelExamples(), GraphExamples(), ValueExamples(), NodeExamples(),
                        AttributeExamples(), OperatorExamples(), TypeExamples(), ShapeExamples(),
                        TensorExamples(), ExternalExamples(), SparseExamples(), FunctionExamples(),
                        TrainingExamples(), ChoiceExamples(), DeviceExamples(), VersionExamples(),
                        LintExamples(), SafetyExamples()}),
          "protobuf text of a ModelProto", Expand};
}

}  // namespace nn::onnx
