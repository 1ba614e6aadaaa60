// Rules about obstacles to converting a model to another format.
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text/text.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "passes/qdq/qdq.h"
#include "passes/types/float32.h"
#include "rewrite/legalize.h"
#include "validators/lint/rule_context.h"

namespace nn::lint {
namespace {

// Why nodes of the graph cannot be written in a format, by node; nullopt if legalization fails.
using Reasons = std::map<std::string, UnsupportedNode>;
std::optional<Reasons> ReasonsAgainst(const Target& target, const Graph& source,
                                      const std::vector<UnsupportedNode>& of_import) {
  Graph graph = source.Clone();
  const auto illegal = Legalize(graph, target);
  if (!illegal) return std::nullopt;
  Reasons reasons;
  for (const std::vector<UnsupportedNode>& list : {of_import, *illegal})
    for (const UnsupportedNode& o : list) reasons.emplace(o.node, o);
  return reasons;
}

// Removes the nodes that another format than the model's can hold; all, if a legalization fails.
void EraseSupported(const RuleContext& s, const Graph& graph,
                    const std::vector<UnsupportedNode>& of_import, Reasons& everywhere) {
  for (const Format& other : Formats()) {
    if (other.name == s.format().name || everywhere.empty()) continue;
    const auto reasons = ReasonsAgainst(*other.target, graph, of_import);
    std::erase_if(everywhere,
                  [&](const auto& r) { return !reasons || !reasons->contains(r.first); });
  }
}

// The sizes that stand for all that --input-shape may set.
constexpr int64_t kFixedSizes[] = {32, 224};

// The forms of a model that options of nnconvert give it: with fixed sizes of the inputs, in
// float32, both.
std::vector<Graph> OtherForms(const Graph& source) {
  std::vector<std::map<std::string, int64_t>> choices(1);
  for (const int64_t size : kFixedSizes) {
    std::map<std::string, int64_t> sizes;
    for (const std::string& symbol : InputSymbols(source)) sizes[symbol] = size;
    if (!sizes.empty()) choices.push_back(std::move(sizes));
  }
  const bool is_float = !IsQuantized(source) && !HasOtherFloats(source);
  std::vector<Graph> forms;
  for (const auto& sizes : choices)
    for (const bool floats : {false, true}) {
      if (floats ? is_float : sizes.empty()) continue;
      Graph graph = source.Clone();
      if (floats && (!Dequantize(graph) || !ComputeInFloat32(graph))) continue;
      if (!sizes.empty() && !BindSymbols(graph, sizes)) continue;
      forms.push_back(std::move(graph));
    }
  return forms;
}

void OperatorsPortable(const RuleContext& s, Findings& f) {
  const auto imported = s.format().importer.Import(s.model());
  if (!imported) return;
  std::optional<Reasons> everywhere;  // for the nodes that no other format supports
  for (const Format& other : Formats())
    if (other.name != s.format().name && !everywhere)
      everywhere = ReasonsAgainst(*other.target, imported->graph, imported->unsupported);
  if (!everywhere) return;
  EraseSupported(s, imported->graph, imported->unsupported, *everywhere);
  if (everywhere->size() > imported->unsupported.size())
    for (const Graph& form : OtherForms(imported->graph))
      EraseSupported(s, form, imported->unsupported, *everywhere);
  std::map<std::string, std::vector<const UnsupportedNode*>> by_operator;
  for (const auto& [node, o] : *everywhere)
    by_operator[o.source.empty() ? o.op : o.source].push_back(&o);
  for (const auto& [op, unsupported] : by_operator) {
    const std::string more =
        unsupported.size() == 1 ? std::string() : fmt::format(" ({} nodes)", unsupported.size());
    f.Add(At(unsupported.front()->node),
          "{}{} cannot be converted to any other format as it is: {}", Escape(op), more,
          unsupported.front()->reason);
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
              .statement =
                  "Every operator can be converted to at least one other format, as it is or with "
                  "options of nnconvert.",
              .clause = "SUPPORT.md",
              .hint = "nnconvert --dry-run --to FORMAT names the options that help, if there are "
                      "any; else express the operator by elementary operators when exporting the "
                      "model.",
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
