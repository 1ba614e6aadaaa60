#include "validators/documents.h"

namespace nn {
namespace {

constexpr struct {
  std::string_view name;  // as clauses begin, or after "advice on"
  std::string_view uri;
} kDocuments[] = {
    {"IR.md", "https://github.com/onnx/onnx/blob/main/docs/IR.md"},
    {"Operators-ml.md", "https://github.com/onnx/onnx/blob/main/docs/Operators-ml.md"},
    {"Operators.md", "https://github.com/onnx/onnx/blob/main/docs/Operators.md"},
    {"ExternalData.md", "https://github.com/onnx/onnx/blob/main/docs/ExternalData.md"},
    {"ShapeInference.md", "https://github.com/onnx/onnx/blob/main/docs/ShapeInference.md"},
    {"onnx.proto", "https://github.com/onnx/onnx/blob/main/onnx/onnx.proto"},
    {"onnx.checker", "https://github.com/onnx/onnx/blob/main/onnx/checker.cc"},
    {"SONNX reqs.md",
     "https://github.com/onnx/working-groups/blob/main/safety-related-profile/deliverables/reqs/"
     "reqs.md"},
    {"SONNX general_restrictions.md",
     "https://github.com/onnx/working-groups/blob/main/safety-related-profile/sonnx/ops/spec/"
     "informal/common/general_restrictions.md"},
    {"SONNX graph.md",
     "https://github.com/onnx/working-groups/blob/main/safety-related-profile/documents/"
     "profile_graph/graph.md"},
    {"schema.fbs",
     "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/compiler/mlir/lite/schema/"
     "schema.fbs"},
    {"Prepare of", "https://github.com/tensorflow/tensorflow/tree/master/tensorflow/lite/kernels"},
    {"Eval of", "https://github.com/tensorflow/tensorflow/tree/master/tensorflow/lite/kernels"},
    {"types.hal",
     "https://android.googlesource.com/platform/hardware/interfaces/+/refs/heads/main/"
     "neuralnetworks/1.0/types.hal"},
};

// Core ML has a file for each kind of model.
constexpr std::string_view kCoremlFolder =
    "https://github.com/apple/coremltools/blob/main/mlmodel/format/";
constexpr std::string_view kCoremlExtension = ".proto";

}  // namespace

std::string DocumentUri(std::string_view clause) {
  constexpr std::string_view kAdvice = "advice on ";
  if (clause.starts_with(kAdvice)) clause.remove_prefix(kAdvice.size());
  for (const auto& document : kDocuments)
    if (clause.starts_with(document.name)) return std::string(document.uri);
  const size_t end = clause.find(kCoremlExtension);
  if (end == std::string_view::npos || clause.substr(0, end).find(' ') != std::string_view::npos)
    return {};
  return std::string(kCoremlFolder) + std::string(clause.substr(0, end + kCoremlExtension.size()));
}

}  // namespace nn
