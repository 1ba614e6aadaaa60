#include "validators/lint/validator.h"

#include "validators/lint/examples.h"
#include "validators/lint/rule_context.h"

namespace nn::lint {
namespace {

using RuleLists = std::vector<std::span<const Rule>>;

// Groups of rules that share a context. A summary is as large as a graph, so the rules that need
// the summary run before those that create the graph.
std::vector<RuleLists> Groups() {
  return {{DeadRules(), WeightRules()}, {PortabilityRules()}};
}

RuleLists Lists() {
  RuleLists all;
  for (const RuleLists& lists : Groups()) all.insert(all.end(), lists.begin(), lists.end());
  return all;
}

void Run(const NativeModel& model, const Format& format, const ValidateOptions& options,
         std::vector<Finding>& out) {
  for (const RuleLists& lists : Groups())
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
