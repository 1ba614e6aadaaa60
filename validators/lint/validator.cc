#include "validators/lint/validator.h"

#include "validators/lint/examples.h"
#include "validators/lint/rule_context.h"

namespace nn::lint {
namespace {

std::vector<std::span<const Rule>> Lists() {
  return {DeadRules(), WeightRules(), PortabilityRules()};
}

void Run(const NativeModel& model, const Format& format, const ValidateOptions& options,
         std::vector<Finding>& out) {
  // The rules of a list share what they look up; it is as large as the graphs of the last list.
  for (const std::span<const Rule> list : Lists())
    RunRules<RuleContext>(std::span(&list, 1), RuleContext(model, format), options, out);
}

}  // namespace

RuleSet AnyRules() {
  return {.format = "",
          .readable = {.id = "FILE-001",
                       .statement = "The file is a model in a supported format.",
                       .clause = "the formats' encodings",
                       .vendor = true,
                       .hint = "Give the file the extension of its format, or download it again."},
          .rules = InfoOf<RuleContext>(Lists()),
          .run = Run,
          .examples = Examples,
          .clauses = {}};
}

}  // namespace nn::lint
