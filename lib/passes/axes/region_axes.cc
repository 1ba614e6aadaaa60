#include "passes/axes/region_axes.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/control/region.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// The number of elements of a value; each symbol counts as 16.
int64_t ElementsOf(const Value* v) {
  if (!v->type().ranked()) return 1;
  const Dim n = Product(*v->type().dims).Substitute([](std::string_view) { return Dim(16); });
  return n.is_const() && n.value() > 0 ? n.value() : 1;
}

}  // namespace

int64_t AxesCost(const Value* source, const AxisMap& before, const AxisMap& map) {
  // Moving unit axes copies no data but needs a node.
  constexpr int64_t kFree = kAxisNodeCost / 2;
  if (source->is_constant() || map.IsIdentity()) return 0;
  if (source->type().ranked()) {
    const Dims dims = before.Apply(*source->type().dims);
    if (map.KeepsOrder(dims) && KnownBeforeRun(map.Apply(dims))) return kFree;
  }
  int64_t cost = 0;
  const AxisMap back = map.Inverse();
  for (const AxisMap* m : {&map, &back})
    if (std::count(m->from().begin(), m->from().end(), AxisMap::kNew) > 0) cost += kFree;
  std::vector<int> kept = map.from();
  std::erase(kept, AxisMap::kNew);
  if (!std::is_sorted(kept.begin(), kept.end())) cost += kAxisNodeCost + ElementsOf(source);
  return cost;
}

namespace {

// The iterations of a loop whose trip count is unknown, like a symbol.
constexpr int64_t kUnknownTrips = 16;
constexpr int64_t kCountedTrips = 1024;

std::optional<AxisMap> PermutationBy(const Node* node) {
  if (node == nullptr || !node->Is<TransposeAttrs>() || !node->input(0)->type().ranked())
    return std::nullopt;
  return AxisMapOf(*node);
}

// The permutation that all uses apply; nullopt if there is none.
std::optional<AxisMap> PermutationOfUses(const Graph& graph, const Value* v) {
  if (graph.IsOutput(v) || v->uses().empty()) return std::nullopt;
  const auto first = PermutationBy(v->uses()[0].node);
  const bool all = first && std::ranges::all_of(v->uses(), [&](const Use& u) {
                     return PermutationBy(u.node) == first;
                   });
  return all ? first : std::nullopt;
}

// The map of a stack for that of its elements.
AxisMap OfStack(const AxisMap& map) {
  std::vector<int> from = {0};
  for (const int f : map.from()) from.push_back(f + 1);
  return AxisMap(map.source_rank() + 1, std::move(from));
}

// The same the other way round; nullopt if the first axis moves.
std::optional<AxisMap> OfElement(const AxisMap& map) {
  if (map.from()[0] != 0) return std::nullopt;
  std::vector<int> from;
  for (size_t k = 1; k < map.from().size(); ++k) from.push_back(map.from()[k] - 1);
  return AxisMap(map.source_rank() - 1, std::move(from));
}

AxisMap OwnAxes(const Value* v) {
  return AxisMap::Identity(v->type().ranked() ? v->type().rank() : 0);
}

// The map that all regions have, or if `eager`, the first one of any of them.
std::optional<AxisMap> Common(const std::vector<std::optional<AxisMap>>& maps, bool eager) {
  std::optional<AxisMap> common;
  for (const auto& map : maps) {
    if (!eager && !(map == maps[0])) return std::nullopt;
    if (!common) common = map;
  }
  return common;
}

int64_t CostOfNodes(const Graph& graph) {
  int64_t cost = 0;
  for (const Node& node : graph.nodes())
    if (const auto map = AxisMapOf(node))
      cost += AxesCost(node.input(0), AxisMap::Identity(map->source_rank()), *map);
  return cost;
}

// The regions of a node after a change of the axes of their inputs and outputs.
class Border {
 public:
  Border(const Graph& graph, const Node& node) : graph_(graph), node_(node), ports_(node) {
    for (const auto& region : node.regions()) regions_.push_back(region->Clone());
    for (const Port& p : regions_[0].inputs()) inputs_.push_back(OwnAxes(p.value));
    for (const Port& p : regions_[0].outputs()) outputs_.push_back(OwnAxes(p.value));
  }

  // Gives the regions the axes that values have before and after the permutations around the node.
  // False if there are none.
  Result<bool> GoIn();
  // Lets permutations at the border of all regions come out; at the side that is eager, also those
  // of one region, and then those at one side of a carried value.
  enum class Eager : uint8_t { kNone, kInputs, kOutputs };
  Status ComeOut(const AxesOptions& options, Eager eager);

  int64_t Cost() const;
  // The same for a node as it is.
  static int64_t CostOf(const Node& node);

  Status Apply(Graph& graph, Node& node);

 private:
  using Maps = std::vector<std::optional<AxisMap>>;

  bool IsCarried(size_t input) const {
    return ports_.is_loop() && input >= 1 && input <= ports_.carried();
  }
  static int64_t Weight(const Node& node) {
    if (!RegionPorts(node).is_loop()) return 1;
    const Value* const trips = node.input(0);
    if (trips == nullptr || !trips->is_constant()) return kUnknownTrips;
    return std::clamp<int64_t>(trips->constant().GetInt(0), 1, kCountedTrips);
  }

  std::optional<AxisMap> AtInputs(size_t input, bool eager) const;
  std::optional<AxisMap> AtOutputs(size_t output, bool eager) const;
  std::optional<AxisMap> BeforeOperand(size_t input) const;
  std::optional<AxisMap> BehindResult(size_t output) const;
  AxisMap MapOfResult(size_t output) const {
    return ports_.IsStacked(*ports_.ResultOf(output)) ? OfStack(outputs_[output])
                                                      : outputs_[output];
  }

  // Both changes of a carried value are the same one.
  void CloseRings(Maps& inputs, Maps& outputs, bool one_side_counts) const;
  Result<bool> Change(const Maps& inputs, const Maps& outputs);
  Status ChangeInput(Graph& region, size_t i, const AxisMap& map);
  Status ChangeOutput(Graph& region, size_t i, const AxisMap& map);

  const Graph& graph_;
  const Node& node_;
  RegionPorts ports_;
  std::vector<Graph> regions_;
  // From the present axes to the new ones.
  std::vector<AxisMap> inputs_, outputs_;
};

std::optional<AxisMap> Border::AtInputs(size_t input, bool eager) const {
  std::vector<std::optional<AxisMap>> maps;
  for (const Graph& region : regions_)
    if (const Value* const v = region.inputs()[input].value; region.HasUses(v))
      maps.push_back(PermutationOfUses(region, v));
  return Common(maps, eager);
}

std::optional<AxisMap> Border::AtOutputs(size_t output, bool eager) const {
  std::vector<std::optional<AxisMap>> maps;
  for (const Graph& region : regions_) {
    const Value* const v = region.outputs()[output].value;
    if (v->is_constant()) continue;
    const auto map = PermutationBy(v->def());
    maps.push_back(map ? std::optional(map->Inverse()) : std::nullopt);
  }
  return Common(maps, eager);
}

std::optional<AxisMap> Border::BeforeOperand(size_t input) const {
  const auto operand = ports_.OperandOf(input);
  const auto map = operand ? PermutationBy(node_.input(*operand)->def()) : std::nullopt;
  return map ? std::optional(map->Inverse()) : std::nullopt;
}

std::optional<AxisMap> Border::BehindResult(size_t output) const {
  const auto result = ports_.ResultOf(output);
  if (!result) return std::nullopt;
  const auto map = PermutationOfUses(graph_, node_.output(*result));
  return map && ports_.IsStacked(*result) ? OfElement(*map) : map;
}

void Border::CloseRings(Maps& inputs, Maps& outputs, bool one_side_counts) const {
  for (size_t k = 0; k < ports_.carried(); ++k) {
    auto &in = inputs[1 + k], &out = outputs[1 + k];
    if (one_side_counts && !in) in = out;
    if (one_side_counts && !out) out = in;
    if (!in || !out || !(*in == *out)) in = out = std::nullopt;
  }
}

Status Border::ChangeInput(Graph& region, size_t i, const AxisMap& map) {
  Value* const v = region.inputs()[i].value;
  const std::vector<Use> uses(v->uses().begin(), v->uses().end());
  const bool is_used = region.HasUses(v);
  v->set_type(RearrangeType(v->type(), map));
  if (!is_used) return {};
  NN_ASSIGN(Value* const back, Rearrange(region, v, map.Inverse()));
  for (const Use& u : uses) region.SetInput(u.node, static_cast<size_t>(u.index), back);
  for (size_t k = 0; k < region.outputs().size(); ++k)
    if (region.outputs()[k].value == v) region.set_output(k, back);
  return {};
}

Status Border::ChangeOutput(Graph& region, size_t i, const AxisMap& map) {
  NN_ASSIGN(Value* const v, Rearrange(region, region.outputs()[i].value, map));
  region.set_output(i, v);
  return {};
}

Result<bool> Border::Change(const Maps& inputs, const Maps& outputs) {
  bool changed = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || inputs[i]->source_rank() != inputs_[i].result_rank()) continue;
    for (Graph& region : regions_) NN_RETURN_IF_ERROR(ChangeInput(region, i, *inputs[i]));
    inputs_[i] = inputs_[i].Then(*inputs[i]);
    changed = true;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i] || outputs[i]->source_rank() != outputs_[i].result_rank()) continue;
    for (Graph& region : regions_) NN_RETURN_IF_ERROR(ChangeOutput(region, i, *outputs[i]));
    outputs_[i] = outputs_[i].Then(*outputs[i]);
    changed = true;
  }
  return changed;
}

Result<bool> Border::GoIn() {
  Maps inputs, outputs;
  for (size_t i = 0; i < inputs_.size(); ++i) inputs.push_back(BeforeOperand(i));
  for (size_t i = 0; i < outputs_.size(); ++i) outputs.push_back(BehindResult(i));
  CloseRings(inputs, outputs, /*one_side_counts=*/true);
  return Change(inputs, outputs);
}

Status Border::ComeOut(const AxesOptions& options, Eager eager) {
  AxesOptions to_border = options;
  to_border.moves_interface = true;
  for (Graph& region : regions_)
    NN_RETURN_IF_ERROR(ChangeAxesOutside(region, to_border).map([](bool) {}));
  Maps inputs, outputs;
  for (size_t i = 0; i < inputs_.size(); ++i)
    inputs.push_back(AtInputs(i, eager == Eager::kInputs));
  for (size_t i = 0; i < outputs_.size(); ++i)
    outputs.push_back(AtOutputs(i, eager == Eager::kOutputs));
  CloseRings(inputs, outputs, /*one_side_counts=*/eager != Eager::kNone);
  NN_RETURN_IF_ERROR(Change(inputs, outputs).map([](bool) {}));
  for (Graph& region : regions_)
    NN_RETURN_IF_ERROR(ChangeAxesOutside(region, options).map([](bool) {}));
  return {};
}

int64_t Border::CostOf(const Node& node) {
  int64_t cost = 0;
  for (const auto& region : node.regions()) cost += Weight(node) * CostOfNodes(*region);
  return cost;
}

// Includes what changes around the node.
int64_t Border::Cost() const {
  int64_t cost = 0;
  for (const Graph& region : regions_) cost += Weight(node_) * CostOfNodes(region);
  const auto own_cost = [](const Node& node, const AxisMap& map) {
    return AxesCost(node.input(0), AxisMap::Identity(map.source_rank()), map);
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].IsIdentity()) continue;
    const Value* const v = node_.input(*ports_.OperandOf(i));
    const auto before = PermutationBy(v->def());
    if (!before) {
      cost += AxesCost(v, OwnAxes(v), inputs_[i]);
      continue;
    }
    cost += own_cost(*v->def(), before->Then(inputs_[i]));
    if (v->uses().size() == 1 && !graph_.IsOutput(v)) cost -= own_cost(*v->def(), *before);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].IsIdentity()) continue;
    const Value* const v = node_.output(*ports_.ResultOf(i));
    const AxisMap back = MapOfResult(i).Inverse();
    bool is_needed = graph_.IsOutput(v);
    for (const Use& u : v->uses()) {
      const auto behind = PermutationBy(u.node);
      if (behind) cost += own_cost(*u.node, back.Then(*behind)) - own_cost(*u.node, *behind);
      is_needed = is_needed || !behind;
    }
    if (is_needed) cost += AxesCost(v, OwnAxes(v), back);
  }
  return cost;
}

Status Border::Apply(Graph& graph, Node& node) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].IsIdentity()) continue;
    const size_t operand = *ports_.OperandOf(i);
    NN_ASSIGN(Value* const v, Rearrange(graph, node.input(operand), inputs_[i]));
    graph.SetInput(&node, operand, v);
  }
  for (size_t i = 0; i < regions_.size(); ++i) *node.regions()[i] = std::move(regions_[i]);
  for (Value* v : node.outputs()) {
    Type type = v->type();
    type.dims.reset();
    v->set_type(std::move(type));
  }
  NN_RETURN_IF_ERROR(InferNode(node));
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].IsIdentity()) continue;
    Value* const v = node.output(*ports_.ResultOf(i));
    const std::vector<Use> uses(v->uses().begin(), v->uses().end());
    std::vector<size_t> places;
    for (size_t k = 0; k < graph.outputs().size(); ++k)
      if (graph.outputs()[k].value == v) places.push_back(k);
    NN_ASSIGN(Value* const back, Rearrange(graph, v, MapOfResult(i).Inverse()));
    for (const Use& u : uses) graph.SetInput(u.node, static_cast<size_t>(u.index), back);
    for (const size_t k : places) graph.set_output(k, back);
  }
  return {};
}

// Takes the best of a few changes.
Result<bool> ChangeAxesOfNode(Graph& graph, Node& node, const AxesOptions& options) {
  using Eager = Border::Eager;
  struct Way {
    bool goes_in;
    Eager eager;
  };
  constexpr Way kWays[] = {{false, Eager::kNone},
                           {false, Eager::kOutputs},
                           {false, Eager::kInputs},
                           {true, Eager::kNone}};
  int64_t least = Border::CostOf(node);
  std::optional<Border> best;
  for (const Way& way : kWays) {
    if (!way.goes_in && least == 0) continue;
    Border border(graph, node);
    if (way.goes_in) {
      NN_ASSIGN(const bool changed, border.GoIn());
      if (!changed) continue;
    }
    NN_RETURN_IF_ERROR(border.ComeOut(options, way.eager));
    const int64_t cost = border.Cost();
    if (cost >= least) continue;
    least = cost;
    best.emplace(std::move(border));
  }
  if (!best) return false;
  NN_RETURN_IF_ERROR(best->Apply(graph, node));
  return true;
}

}  // namespace

Result<bool> ChangeAxesOfRegions(Graph& graph, const AxesOptions& options) {
  bool changed = false;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = *it++;
    if (node.regions().empty()) continue;
    NN_ASSIGN(const bool done, ChangeAxesOfNode(graph, node, options));
    changed = changed || done;
  }
  if (changed) NN_RETURN_IF_ERROR(InferGraph(graph));
  return changed;
}

}  // namespace nn
