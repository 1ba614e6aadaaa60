#include "validators/tflite/validator.h"

#include "validators/tflite/doc/example_text.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

constexpr std::string_view kExamples =
#include "embed/tflite_examples.inc"
    ;
constexpr std::string_view kClauses =
#include "embed/tflite_clauses.inc"
    ;

std::vector<std::span<const Rule>> Lists() {
  return {ModelRules(),   GraphRules(), TensorRules(),       SparsityRules(), OperatorRules(),
          VersionRules(), ShapeRules(), QuantizationRules(), VariableRules(), LintRules()};
}

constexpr RuleInfo kReadable = {
    .id = "TFLITE-FILE-001",
    .statement = "The file is a FlatBuffers file of a Model with the file identifier TFL3.",
    .clause = "schema.fbs, file_identifier",
    .vendor = true,
    .hint =
        "Export or download the file again. If only the identifier is missing, nnconvert "
        "--rewrite writes the model with it."};

void Run(const NativeModel& model, const Format&, const ValidateOptions& options,
         std::vector<Finding>& out) {
  const auto& tflite = ModelOf(model);
  if (IsApplied(kReadable, options) && !HasIdentifier(tflite.flatbuffer.structure().bytes()))
    Findings(kReadable, out)
        .Add(nn::At("file identifier"), "bytes 4 to 7 of the file are not the identifier TFL3");
  const RuleContext context(tflite);
  RunRules<RuleContext>(Lists(), context, options, out);
}

}  // namespace

RuleSet TfliteRules() {
  return {.format = "tflite",
          .readable = kReadable,
          .rules = InfoOf<RuleContext>(Lists()),
          .run = Run,
          .examples = kExamples,
          .language = "JSON by schemas/tflite.fbs",
          .expand = OperatorModel,
          .clauses = kClauses,
          .operator_lists = {"subgraphs[0].operators"}};
}

}  // namespace nn::tflite
