#include "validators/lint/validator.h"

#include "validators/lint/examples.h"
#include "validators/lint/subject.h"

namespace nn::lint {
namespace {

std::vector<std::span<const Rule>> Lists() {
  return {DeadRules(), WeightRules(), PortabilityRules()};
}

void Run(const NativeModel& model, const Format& format, const ValidateOptions& options,
         std::vector<Finding>& out) {
  const auto lists = Lists();
  if (IsAnyApplied<Subject>(lists, options))
    RunRules<Subject>(lists, Subject(model, format), options, out);
}

}  // namespace

RuleSet AnyRules() {
  return {.format = "",
          .readable = {.id = "FILE-001",
                       .statement = "The file is a model in a supported format.",
                       .clause = "the formats' encodings",
                       .vendor = true,
                       .hint = "Give the file the extension of its format, or download it again."},
          .rules = InfoOf<Subject>(Lists()),
          .run = Run,
          .examples = Examples,
          .clauses = {}};
}

}  // namespace nn::lint
