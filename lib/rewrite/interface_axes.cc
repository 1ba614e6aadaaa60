#include "rewrite/interface_axes.h"

#include <algorithm>

#include "ops/array/shape.h"
#include "passes/core/passes.h"
#include "rewrite/target.h"

namespace nn {
namespace {

AxisMap IdentityOf(const Value* v) {
  return v->type().ranked() ? AxisMap::Identity(v->type().rank()) : AxisMap();
}

// The permutation of a transpose; nullopt for other nodes, and if no elements move.
std::optional<AxisMap> PermutationOf(const Node& node) {
  if (!node.Is<TransposeAttrs>() || !node.input(0)->type().ranked()) return std::nullopt;
  auto map = AxisMapOf(node);
  if (!map || map->KeepsOrder(*node.input(0)->type().dims)) return std::nullopt;
  return map;
}

// The same, or the map of a node that removes unit axes and that the target lacks, before nodes
// that it has.
std::optional<AxisMap> MapAtInput(const Graph& graph, const Node& node, const Target& target) {
  if (!node.Is("squeeze")) return PermutationOf(node);
  const auto is_legal = [&](const Use& use) { return !target.why_illegal(*use.node); };
  if (!node.input(0)->type().ranked() || graph.IsOutput(node.output()) ||
      !target.why_illegal(node) || !std::ranges::all_of(node.output()->uses(), is_legal))
    return std::nullopt;
  return AxisMapOf(node);
}

// The map that all uses of an input apply to it; nullopt if there is none.
std::optional<AxisMap> MapOfUses(const Graph& graph, const Value* v, const Target& target) {
  std::optional<AxisMap> common;
  for (const Use& u : v->uses()) {
    const auto map = MapAtInput(graph, *u.node, target);
    if (!map || (common && !(*common == *map))) return std::nullopt;
    common = map;
  }
  return common;
}

void MoveInput(Graph& graph, Value* input, const AxisMap& map) {
  const std::vector<Use> uses(input->uses().begin(), input->uses().end());
  input->set_type(RearrangeType(input->type(), map));
  for (const Use& u : uses) {
    graph.ReplaceUses(u.node->output(), input);
    graph.Erase(u.node);
  }
}

}  // namespace

bool InterfaceAxes::unchanged() const {
  for (const auto* maps : {&inputs, &outputs})
    for (const AxisMap& map : *maps)
      if (!map.IsIdentity()) return false;
  for (const auto* offsets : {&input_offsets, &output_offsets})
    for (const int64_t offset : *offsets)
      if (offset != 0) return false;
  return true;
}

InterfaceAxes IdentityInterface(const Graph& graph) {
  InterfaceAxes out;
  for (const Port& p : graph.inputs()) out.inputs.push_back(IdentityOf(p.value));
  for (const Port& p : graph.outputs()) out.outputs.push_back(IdentityOf(p.value));
  out.input_offsets.assign(out.inputs.size(), 0);
  out.output_offsets.assign(out.outputs.size(), 0);
  return out;
}

Status MoveInterface(Graph& graph, const Target& target, InterfaceAxes& interface) {
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Node* def = graph.outputs()[i].value->def();
    const auto map = def == nullptr ? std::nullopt : PermutationOf(*def);
    // With other uses, the transpose stays unless the input of the graph moves.
    if (!map || !def->output()->uses().empty()) continue;
    interface.outputs[i] = interface.outputs[i].Then(map->Inverse());
    graph.set_output(i, def->input(0));
  }
  NN_RETURN_IF_ERROR(RemoveDeadCode(graph));
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    Value* const input = graph.inputs()[i].value;
    if (graph.IsOutput(input)) continue;
    const auto map = MapOfUses(graph, input, target);
    if (!map) continue;
    interface.inputs[i] = interface.inputs[i].Then(*map);
    MoveInput(graph, input, *map);
  }
  return {};
}

}  // namespace nn
