#include "validators/onnx/validator.h"

#include "validators/onnx/doc/example_text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

constexpr std::string_view kExamples =
#include "embed/onnx_examples.inc"
    ;
constexpr std::string_view kClauses =
#include "embed/onnx_clauses.inc"
    ;

std::vector<std::span<const Rule>> Lists() {
  // Inference comes last, as it does not repeat the findings of other rules.
  return {ModelRules(),    GraphRules(),    InterfaceRules(),   NodeRules(),     AttributeRules(),
          ChoiceRules(),   OperatorRules(), ControlFlowRules(), TypeRules(),     TensorRules(),
          ExternalRules(), SparseRules(),   FunctionRules(),    TrainingRules(), DeviceRules(),
          VersionRules(),  ShapeRules(),    LintRules(),        SafetyRules()};
}

void Run(const NativeModel& model, const Format&, const ValidateOptions& options,
         std::vector<Finding>& out) {
  const bool vendor = options.profile == Profile::kVendor;
  const RuleContext context(ModelOf(model), vendor ? Reach::kChecker : Reach::kAll);
  RunRules<RuleContext>(Lists(), context, options, out);
}

}  // namespace

RuleSet OnnxRules() {
  return {
      .format = "onnx",
      .readable = {.id = "ONNX-FILE-001",
                   .statement = "The file can be parsed as a ModelProto.",
                   .clause = "onnx.proto: ModelProto",
                   .vendor = true,
                   .hint =
                       "The file is damaged or not an ONNX model; export or download it again."},
      .rules = InfoOf<RuleContext>(Lists()),
      .run = Run,
      .examples = kExamples,
      .language = "protobuf text of a ModelProto",
      .expand = ExpandModel,
      .clauses = kClauses,
      .operator_lists = {"graph.node"}};
}

}  // namespace nn::onnx
