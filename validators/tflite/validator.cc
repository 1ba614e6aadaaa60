#include "validators/tflite/validator.h"

#include "validators/tflite/clauses.h"
#include "validators/tflite/examples.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

std::vector<std::span<const Rule>> Lists() {
  return {ModelRules(),   GraphRules(), TensorRules(),       SparsityRules(), OperatorRules(),
          VersionRules(), ShapeRules(), QuantisationRules(), LintRules()};
}

void Run(const NativeModel& model, const Format&, const ValidateOptions& options,
         std::vector<Finding>& out) {
  const Subject subject(static_cast<const Model&>(model));
  RunRules<Subject>(Lists(), subject, options, out);
}

}  // namespace

RuleSet TfliteRules() {
  return {.format = "tflite",
          .readable = {.id = "TFLITE-FILE-001",
                       .severity = Severity::kError,
                       .statement = "The file is a flatbuffer of a Model with identifier TFL3.",
                       .clause = "schema.fbs, file_identifier",
                       .vendor = true,
                       .hint = "Fetch or export the file again."},
          .rules = InfoOf<Subject>(Lists()),
          .run = Run,
          .examples = Examples,
          .clauses = Clauses()};
}

}  // namespace nn::tflite
