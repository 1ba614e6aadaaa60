#include "validators/onnx/validator.h"

#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

std::vector<std::span<const Rule>> Lists() {
  return {ModelRules(),     GraphRules(),    InterfaceRules(), NodeRules(),
          AttributeRules(), OperatorRules(), TypeRules(),      TensorRules(),
          ExternalRules(),  SparseRules(),   FunctionRules(),  TrainingRules()};
}

void Run(const NativeModel& model, const ValidateOptions& options, std::vector<Finding>& out) {
  const Subject subject(static_cast<const Model&>(model));
  RunRules<Subject>(Lists(), subject, options, out);
}

}  // namespace

RuleSet OnnxRules() {
  return {.format = "onnx",
          .readable = {.id = "ONNX-FILE-001",
                       .severity = Severity::kError,
                       .statement = "The file is the wire form of a ModelProto.",
                       .clause = "onnx.proto: ModelProto",
                       .vendor = true,
                       .hint = "Fetch or export the file again."},
          .rules = InfoOf<Subject>(Lists()),
          .run = Run};
}

}  // namespace nn::onnx
