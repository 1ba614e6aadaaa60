#include "validators/nnapi/validator.h"

#include "validators/nnapi/doc/example_text.h"
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

constexpr std::string_view kExamples =
#include "embed/nnapi_examples.inc"
    ;
constexpr std::string_view kClauses =
#include "embed/nnapi_clauses.inc"
    ;

std::vector<std::span<const Rule>> Lists() {
  return {ModelRules(), OperandRules(), OperationRules(), WindowRules(),  ElementwiseRules(),
          ShapeRules(), LookupRules(),  MatrixRules(),    RequestRules(), LintRules()};
}

void Run(const NativeModel& model, const Format&, const ValidateOptions& options,
         std::vector<Finding>& out) {
  const RuleContext context(ModelOf(model));
  RunRules<RuleContext>(Lists(), context, options, out);
}

}  // namespace

RuleSet NnapiRules() {
  return {.format = "nnapi",
          .readable = {.id = "NNAPI-FILE-001",
                       .statement =
                           "The file is an NNAPI model: a .nnapi flatbuffer or .nnapi.json text.",
                       .clause = "schemas/nnapi.fbs",
                       .hint = "The file is damaged or incomplete; export or copy it again."},
          .rules = InfoOf<RuleContext>(Lists()),
          .run = Run,
          .examples = kExamples,
          .language = "JSON by schemas/nnapi.fbs",
          .expand = OperationModel,
          .clauses = kClauses,
          .operator_lists = {"operations"}};
}

}  // namespace nn::nnapi
