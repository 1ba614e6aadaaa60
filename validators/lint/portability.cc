// Rules of what keeps a model in its format.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text.h"
#include "passes/legalise.h"
#include "validators/lint/subject.h"

namespace nn::lint {
namespace {

// Why nodes of the graph cannot be written in a format, by node; nullopt if none can.
using Reasons = std::map<std::string, Obstacle>;
std::optional<Reasons> ReasonsAgainst(const Target& target, const ImportedModel& model) {
  Graph graph = model.graph.Clone();
  const auto illegal = Legalise(graph, target);
  if (!illegal) return std::nullopt;
  Reasons reasons;
  for (const std::vector<Obstacle>& list : {model.obstacles, *illegal})
    for (const Obstacle& o : list) reasons.emplace(o.node, o);
  return reasons;
}

void OperatorsPortable(const Subject& s, Findings& f) {
  const auto imported = s.format().import(s.model());
  if (!imported) return;
  std::optional<Reasons> everywhere;  // of the nodes that no other format takes
  for (const Format& other : Formats()) {
    if (other.name == s.format().name) continue;
    const auto reasons = ReasonsAgainst(*other.target, *imported);
    if (!reasons) return;
    if (!everywhere)
      everywhere = reasons;
    else
      std::erase_if(*everywhere, [&](const auto& r) { return !reasons->contains(r.first); });
  }
  std::map<std::string, std::vector<const Obstacle*>> by_operator;
  if (everywhere)
    for (const auto& [node, o] : *everywhere)
      by_operator[o.source.empty() ? o.op : o.source].push_back(&o);
  for (const auto& [op, obstacles] : by_operator) {
    const std::string more =
        obstacles.size() == 1 ? std::string() : fmt::format(" and {} others", obstacles.size() - 1);
    f.Add(At(obstacles.front()->node), "{}{} can be converted to no other format: {}", Escape(op),
          more, obstacles.front()->reason);
  }
}

bool IsIdentifier(std::string_view name) {
  const auto is_word = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), is_word);
}

void PortsAreIdentifiers(const Subject& s, Findings& f) {
  if (s.format().name == "nnapi") return;  // its operands have numbers, not names
  for (const auto& [kind, ports] :
       {std::pair("input", &s.summary().inputs), std::pair("output", &s.summary().outputs)})
    for (const TensorSummary& t : *ports)
      if (!IsIdentifier(t.name)) f.Add({}, "{} {} is no identifier", kind, Quote(t.name));
}

constexpr Rule kRules[] = {
    {{"LINT-PORT-001", Severity::kNote, "Every operator can be written in another format.",
      "SUPPORT.md", false, "Write it with elementary operators when the model is exported.", true},
     OperatorsPortable},
    {{"LINT-PORT-002", Severity::kNote,
      "Names of inputs and outputs are identifiers: letters, digits and underscores.",
      "IR.md, Names Within a Graph", false,
      "Rename it: ONNX asks for identifiers, and Core ML makes properties of the names.", true},
     PortsAreIdentifiers},
};

}  // namespace

std::span<const Rule> PortabilityRules() {
  return kRules;
}

}  // namespace nn::lint
