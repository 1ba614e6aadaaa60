// Rules about obstacles to converting a model to another format.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text.h"
#include "passes/legalize.h"
#include "validators/lint/rule_context.h"

namespace nn::lint {
namespace {

// Why nodes of the graph cannot be written in a format, by node; nullopt if legalization fails.
using Reasons = std::map<std::string, UnsupportedNode>;
std::optional<Reasons> ReasonsAgainst(const Target& target, const ImportedModel& model) {
  Graph graph = model.graph.Clone();
  const auto illegal = Legalize(graph, target);
  if (!illegal) return std::nullopt;
  Reasons reasons;
  for (const std::vector<UnsupportedNode>& list : {model.unsupported, *illegal})
    for (const UnsupportedNode& o : list) reasons.emplace(o.node, o);
  return reasons;
}

void OperatorsPortable(const RuleContext& s, Findings& f) {
  const auto imported = s.format().import(s.model());
  if (!imported) return;
  std::optional<Reasons> everywhere;  // for the nodes that no other format supports
  for (const Format& other : Formats()) {
    if (other.name == s.format().name) continue;
    const auto reasons = ReasonsAgainst(*other.target, *imported);
    if (!reasons) return;
    if (!everywhere)
      everywhere = reasons;
    else
      std::erase_if(*everywhere, [&](const auto& r) { return !reasons->contains(r.first); });
    if (everywhere->empty()) return;
  }
  std::map<std::string, std::vector<const UnsupportedNode*>> by_operator;
  if (everywhere)
    for (const auto& [node, o] : *everywhere)
      by_operator[o.source.empty() ? o.op : o.source].push_back(&o);
  for (const auto& [op, unsupported] : by_operator) {
    const std::string more =
        unsupported.size() == 1 ? std::string() : fmt::format(" ({} nodes)", unsupported.size());
    f.Add(At(unsupported.front()->node), "{}{} cannot be converted to any other format: {}",
          Escape(op), more, unsupported.front()->reason);
  }
}

bool IsIdentifier(std::string_view name) {
  const auto is_word = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), is_word);
}

void PortsAreIdentifiers(const RuleContext& s, Findings& f) {
  if (s.format().name == "nnapi") return;  // operands are numbered, not named
  for (const auto& [kind, ports] :
       {std::pair("input", &s.summary().inputs), std::pair("output", &s.summary().outputs)})
    for (const TensorSummary& t : *ports)
      if (!IsIdentifier(t.name)) f.Add({}, "{} {} is not an identifier", kind, Quote(t.name));
}

constexpr Rule kPortabilityRules[] = {
    {.info = {.id = "LINT-PORT-001",
              .severity = Severity::kNote,
              .statement = "Every operator can be converted to at least one other format.",
              .clause = "SUPPORT.md",
              .hint = "Express the operator by elementary operators when exporting the model.",
              .lint = true},
     .check = OperatorsPortable},
    {.info = {.id = "LINT-PORT-002",
              .severity = Severity::kNote,
              .statement = "Names of model inputs and outputs consist of letters, digits and "
                           "underscores, and do not begin with a digit.",
              .clause = "IR.md, Names Within a Graph",
              .hint = "Rename the input or output; ONNX requires identifiers, and Core ML turns "
                      "names into properties.",
              .lint = true},
     .check = PortsAreIdentifiers},
};

}  // namespace

std::span<const Rule> PortabilityRules() {
  return kPortabilityRules;
}

}  // namespace nn::lint
