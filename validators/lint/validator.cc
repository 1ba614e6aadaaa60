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
  const auto lists = Lists();
  if (IsAnyApplied<RuleContext>(lists, options))
    RunRules<RuleContext>(lists, RuleContext(model, format), options, out);
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
