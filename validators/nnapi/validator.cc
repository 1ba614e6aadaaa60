#include "validators/nnapi/validator.h"

#include "validators/nnapi/clauses.h"
#include "validators/nnapi/examples.h"
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

std::vector<std::span<const Rule>> Lists() {
  return {ModelRules(), OperandRules(), OperationRules(), WindowRules(),  ElementwiseRules(),
          ShapeRules(), LookupRules(),  MatrixRules(),    RequestRules(), LintRules()};
}

void Run(const NativeModel& model, const Format&, const ValidateOptions& options,
         std::vector<Finding>& out) {
  const Subject subject(static_cast<const Model&>(model));
  RunRules<Subject>(Lists(), subject, options, out);
}

}  // namespace

RuleSet NnapiRules() {
  return {.format = "nnapi",
          .readable = {.id = "NNAPI-FILE-001",
                       .severity = Severity::kError,
                       .statement = "The file is a model in one of the two forms of this suite.",
                       .clause = "schemas/nnapi.fbs",
                       .vendor = false,
                       .hint = "Convert the model again."},
          .rules = InfoOf<Subject>(Lists()),
          .run = Run,
          .examples = Examples,
          .clauses = Clauses()};
}

}  // namespace nn::nnapi
