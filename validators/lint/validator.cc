#include "validators/lint/validator.h"

#include "validators/lint/rule_context.h"

namespace nn::lint {
namespace {

constexpr std::string_view kExamples =
#include "embed/lint_examples.inc"
    ;

// Expands $F to two floats, $U to 1 KiB of equal floats, and $V and $W to 1 KiB of different ones.
std::string Expand(const std::string& text) {
  const auto data = [](std::string_view words) {
    std::string out = "raw_data: \"";
    for (size_t bytes = 0; bytes < 1024; bytes += words.size()) out += words;
    return out + "\"";
  };
  std::string full;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view mark = std::string_view(text).substr(i, 2);
    if (mark == "$F") {
      full += "dims: 2 float_data: [3, 4]";
      ++i;
    } else if (mark == "$U" || mark == "$V" || mark == "$W") {
      full += data(mark == "$U" ? "good" : mark == "$V" ? "goodfair" : "goodbest");
      ++i;
    } else {
      full += text[i];
    }
  }
  return full;
}

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
          .examples = kExamples,
          .language = "protobuf text of a ModelProto",
          .expand = Expand};
}

}  // namespace nn::lint
