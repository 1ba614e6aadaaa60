// Moves axis nodes (transpose, expand_dims, squeeze, unit reshape) through the graph until they
// cancel.
//
// One step takes an axis node and gives its result (or its input) the axes of the other side. The
// change floods from value to value through every operator that can adapt (OpDef::change_axes). At
// another axis node the two merge. At a graph input or output, a constant or an operator that
// cannot adapt, the flood ends and an axis node is inserted on that edge. The change is applied
// only if it reduces the total cost, which is dominated by the number of elements moved.
#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/control/region.h"
#include "ops/support/types.h"
#include "passes/axes/region_axes.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

// The same for the permutation of a whole input or output, which is moved out of the graph.
int64_t CostAtInterface(const Value* source, const AxisMap& before, const AxisMap& map) {
  const int64_t cost = AxesCost(source, before, map);
  return map.IsPermutation() ? std::min(cost, kAxisNodeCost / 2) : cost;
}

struct OperandHash {
  size_t operator()(const Operand& o) const { return o.index * 2 + (o.is_output ? 1 : 0); }
};

// Numbers nodes in graph order, so that the nodes of a flood can be sorted without a walk over the
// graph. A new node is ordered directly before the node it was inserted before.
class NodeOrder {
 public:
  explicit NodeOrder(const Graph& graph) {
    for (const Node& n : graph.nodes()) keys_[&n] = {keys_.size() + 1, 0};
    end_ = keys_.size() + 1;
  }
  void AddBefore(const Node* node, const Node* next) {
    keys_[node] = {next == nullptr ? end_ : keys_.at(next).first, --added_};
  }
  void Erase(const Node* node) { keys_.erase(node); }
  bool Has(const Node* node) const { return keys_.contains(node); }
  void Sort(std::vector<Node*>& nodes) const {
    std::sort(nodes.begin(), nodes.end(),
              [&](const Node* a, const Node* b) { return keys_.at(a) < keys_.at(b); });
  }
  size_t size() const { return keys_.size(); }

 private:
  std::unordered_map<const Node*, std::pair<size_t, int64_t>> keys_;
  size_t end_ = 0;
  int64_t added_ = 0;
};

// A planned change: the axis maps of values, and the axes that each node then expects.
class Flood {
 public:
  Flood(Graph& graph, NodeOrder& order, const AxesOptions& options)
      : graph_(graph), order_(order), options_(options) {}

  // Amount of work so far.
  uint64_t steps() const { return steps_; }

  // Floods from `value`; false if its definition cannot adapt.
  bool Start(Value* value, const AxisMap& map) {
    Request(value, map);
    while (!queue_.empty()) {
      ++steps_;
      const Task task = queue_.front();
      queue_.pop_front();
      if (task.node == nullptr)
        Visit(task.value, task.map);
      else
        Follows(task.node, Operand{false, task.index}, task.map);
    }
    return maps_.contains(value);
  }

  // The change of the total cost that Apply() would cause.
  int64_t CostDelta() const {
    int64_t delta = 0;
    std::unordered_set<const Node*> axis_nodes;
    for (const auto& [v, map] : maps_) {
      if (v->def() != nullptr && IsAxisNode(v->def())) axis_nodes.insert(v->def());
      for (const Use& u : v->uses())
        if (IsAxisNode(u.node)) axis_nodes.insert(u.node);
      if (graph_.IsOutput(v))
        delta += options_.moves_interface ? CostAtInterface(v, map, map.Inverse())
                                          : AxesCost(v, map, map.Inverse());
    }
    std::unordered_set<Value*> inputs;
    for (const auto& [v, map] : maps_)
      if (v->def() == nullptr) inputs.insert(v);
    for (const Node* n : axis_nodes) {
      if (IsMovable(n->input(0))) {
        inputs.insert(n->input(0));
        continue;
      }
      const AxisMap now = *AxisMapOf(*n);
      const auto cost = IsMovedOutput(*n) ? CostAtInterface : AxesCost;
      delta -= cost(n->input(0), AxisMap::Identity(now.source_rank()), now);
      delta += cost(n->input(0), MapOfValue(n->input(0)), MergedMap(*n));
    }
    // Edges that need an axis node; uses of a value with equal maps share one.
    std::unordered_map<const Value*, std::vector<AxisMap>> placed;
    for (const Node* n : TouchedNodes()) {
      if (IsAxisNode(n)) continue;
      for (size_t i = 0; i < n->inputs().size(); ++i) {
        Value* v = n->input(i);
        if (v == nullptr) continue;
        if (IsMovable(v)) {
          inputs.insert(v);
          continue;
        }
        const AxisMap map = EdgeMap(*n, i);
        if (map.IsIdentity()) continue;
        auto& maps = placed[v];
        if (std::find(maps.begin(), maps.end(), map) != maps.end()) continue;
        maps.push_back(map);
        delta += AxesCost(v, MapOfValue(v), map);
      }
    }
    for (Value* v : inputs) delta += InputCost(v, true) - InputCost(v, false);
    return delta;
  }

  const std::unordered_map<Value*, AxisMap>& maps() const { return maps_; }

  // Nodes, in graph order, whose attributes or edges may change.
  std::vector<Node*> TouchedNodes() const {
    std::unordered_set<const Node*> set(touched_axis_nodes_.begin(), touched_axis_nodes_.end());
    for (const auto& [n, change] : nodes_) set.insert(n);
    for (const auto& [v, map] : maps_)
      for (const Use& u : v->uses()) set.insert(u.node);
    std::vector<Node*> out;
    out.reserve(set.size());
    for (const Node* n : set) out.push_back(const_cast<Node*>(n));
    order_.Sort(out);
    return out;
  }

  // Re-infers types and removes dead nodes only where something changed.
  Status Apply() {
    const std::vector<Node*> touched = TouchedNodes();
    // Determine the maps of all edges before the graph changes.
    struct Edge {
      Node* node;
      size_t index;
      AxisMap map;
    };
    std::vector<Edge> edges;
    std::vector<std::pair<Node*, AxisMap>> merged;
    for (Node* n : touched) {
      if (IsAxisNode(n)) {
        merged.emplace_back(n, MergedMap(*n));
        continue;
      }
      for (size_t i = 0; i < n->inputs().size(); ++i)
        if (n->input(i) != nullptr)
          if (AxisMap map = EdgeMap(*n, i); !map.IsIdentity()) edges.push_back({n, i, map});
    }
    std::vector<std::pair<size_t, AxisMap>> output_maps;
    const bool any = std::any_of(maps_.begin(), maps_.end(),
                                 [&](const auto& m) { return graph_.IsOutput(m.first); });
    for (size_t i = 0; any && i < graph_.outputs().size(); ++i)
      if (const auto it = maps_.find(graph_.outputs()[i].value); it != maps_.end())
        output_maps.emplace_back(i, it->second);
    for (const auto& [n, change] : nodes_)
      if (change) n->set_attrs(change->attrs);
    for (const auto& [v, map] : maps_) {
      if (v->def() != nullptr)
        v->set_type(RearrangeType(v->type(), map));
      else
        NN_RETURN_IF_ERROR(PermuteInput(v, map));
    }

    for (const auto& [n, map] : merged) {
      NN_ASSIGN(Value* const v, Rearranged(n->input(0), map));
      Value* old = n->output();
      if (v->name().empty()) v->set_name(old->name());
      graph_.ReplaceUses(old, v);
    }
    for (const Edge& e : edges) {
      NN_ASSIGN(Value* const v, Rearranged(e.node->input(e.index), e.map));
      graph_.SetInput(e.node, e.index, v);
    }
    for (const auto& [i, map] : output_maps) {
      NN_ASSIGN(Value* const back, Rearranged(graph_.outputs()[i].value, map.Inverse()));
      graph_.set_output(i, back);
    }
    for (Node* n : touched)
      if (order_.Has(n)) EraseIfDead(n);
    for (Node* n : touched)
      if (order_.Has(n)) NN_RETURN_IF_ERROR(InferNode(*n));
    return {};
  }

 private:
  using Maps = std::unordered_map<Operand, AxisMap, OperandHash>;
  struct Change {
    Attrs attrs;
    Maps maps;  // of all operands that change
  };

  // A pending decision: whether a value changes by a map, or (with a node) whether a user of it
  // adapts.
  struct Task {
    Value* value;
    Node* node;
    size_t index;
    AxisMap map;
  };

  // Whether a value is an input that can take other axes.
  bool IsMovable(const Value* v) const {
    return options_.moves_interface && v->def() == nullptr && !v->is_constant() &&
           v->type().ranked() && !graph_.IsOutput(v);
  }

  // Whether the axes of an output can change instead of an axis node.
  bool IsMovedOutput(const Node& n) const {
    return options_.moves_interface && n.output()->uses().empty() && graph_.IsOutput(n.output());
  }

  // The cost of the axis nodes directly after an input, before or after the change.
  int64_t InputCost(Value* input, bool after) const {
    const AxisMap identity = AxisMap::Identity(input->type().rank());
    const auto own = after ? maps_.find(input) : maps_.end();
    const AxisMap& base = own == maps_.end() ? identity : own->second;
    std::vector<AxisMap> maps;
    bool all = true;  // uses take other axes
    int64_t cost = 0;
    for (const Use& u : input->uses()) {
      AxisMap map = identity;
      if (IsAxisNode(u.node))
        map = after ? MergedMap(*u.node) : *AxisMapOf(*u.node);
      else if (after)
        map = EdgeMap(*u.node, static_cast<size_t>(u.index));
      if (IsAxisNode(u.node) && IsMovedOutput(*u.node)) {
        cost += CostAtInterface(input, base, map);
        all = false;  // the input becomes an output
        continue;
      }
      all = all && !map.IsIdentity();
      if (!map.IsIdentity() && std::find(maps.begin(), maps.end(), map) == maps.end())
        maps.push_back(std::move(map));
    }
    if (base.IsIdentity() && all && maps.size() == 1)
      return CostAtInterface(input, identity, maps[0]);
    cost += CostAtInterface(input, identity, base);
    for (const AxisMap& map : maps) cost += AxesCost(input, base, map);
    return cost;
  }

  static bool IsAxisNode(const Node* n) { return AxisMapOf(*n).has_value(); }

  void Request(Value* v, const AxisMap& map) {
    if (!map.IsIdentity()) queue_.push_back({v, nullptr, 0, map});
  }

  void SetMap(Value* v, const AxisMap& map) {
    if (!maps_.emplace(v, map).second) return;
    for (const Use& u : v->uses()) queue_.push_back({v, u.node, static_cast<size_t>(u.index), map});
  }

  // Decides whether v changes by `map`, and propagates to adjacent nodes.
  void Visit(Value* v, const AxisMap& map) {
    if (maps_.contains(v) || fixed_.contains(v)) return;
    if (IsMovable(v) && map.IsPermutation() && v->type().rank() == map.source_rank()) {
      SetMap(v, map);
      return;
    }
    if (v->def() == nullptr || !v->type().ranked() || v->type().rank() != map.source_rank() ||
        !Follows(v->def(), Operand{true, static_cast<size_t>(v->def_index())}, map)) {
      fixed_.insert(v);
      return;
    }
    SetMap(v, map);
  }

  // Tries to adapt a node to the change of one operand. True if the operand then changes by `map`.
  bool Follows(Node* n, Operand operand, const AxisMap& map) {
    if (IsAxisNode(n)) {
      touched_axis_nodes_.insert(n);
      return true;
    }
    if (const auto it = nodes_.find(n); it != nodes_.end()) {
      if (!it->second) return false;
      const auto at = it->second->maps.find(operand);
      return at != it->second->maps.end() && at->second == map;
    }
    std::optional<Change>& entry = nodes_[n];
    if (n->op().change_axes == nullptr || !n->regions().empty()) return false;
    auto change = n->op().change_axes(*n, operand, map);
    if (!change) return false;
    // Values of unknown rank, which follow unsupported nodes, cannot change.
    for (const auto& [other, other_map] : change->others) {
      const Value* v = other.is_output ? n->output(other.index) : n->input(other.index);
      if (v != nullptr && (!v->type().ranked() || v->type().rank() != other_map.source_rank()))
        return false;
    }
    if (options_.allow && !options_.allow(*n, operand, map, *change)) return false;
    entry = Change{std::move(change->attrs), {}};
    entry->maps.emplace(operand, map);
    for (auto& [other, other_map] : change->others) entry->maps.insert_or_assign(other, other_map);
    for (const auto& [other, other_map] : entry->maps) {
      if (other == operand) continue;
      Value* v = other.is_output ? n->output(other.index) : n->input(other.index);
      if (v != nullptr) Request(v, other_map);
    }
    // All outputs of an adapted node must change: an axis node on an edge cannot fix a definition.
    for (size_t i = 0; i < n->outputs().size(); ++i) {
      const auto at = entry->maps.find(Operand{true, i});
      if (at == entry->maps.end() || at->second.IsIdentity()) continue;
      if (fixed_.contains(n->output(i))) {
        entry.reset();
        return false;
      }
      SetMap(n->output(i), at->second);
    }
    return true;
  }

  AxisMap MapOfValue(const Value* v) const {
    const auto it = maps_.find(const_cast<Value*>(v));
    return it == maps_.end() ? AxisMap::Identity(v->type().ranked() ? v->type().rank() : 0)
                             : it->second;
  }

  // The map that a node expects on input i, relative to the axes before the change.
  AxisMap ExpectedMap(const Node& n, size_t i) const {
    const auto it = nodes_.find(const_cast<Node*>(&n));
    if (it != nodes_.end() && it->second) {
      const auto at = it->second->maps.find(Operand{false, i});
      if (at != it->second->maps.end()) return at->second;
    }
    const Type& type = n.input(i)->type();
    return AxisMap::Identity(type.ranked() ? type.rank() : 0);
  }

  AxisMap EdgeMap(const Node& n, size_t i) const {
    return MapOfValue(n.input(i)).Inverse().Then(ExpectedMap(n, i));
  }

  AxisMap MergedMap(const Node& n) const {
    return MapOfValue(n.input(0)).Inverse().Then(*AxisMapOf(n)).Then(MapOfValue(n.output()));
  }

  // Erases the node if its results are unused, then its operands' nodes recursively.
  void EraseIfDead(Node* node) {
    std::vector<Node*> stack = {node};
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      if (!order_.Has(n) || std::any_of(n->outputs().begin(), n->outputs().end(),
                                        [&](const Value* v) { return graph_.HasUses(v); }))
        continue;
      for (Value* v : n->inputs())
        if (v != nullptr && v->def() != nullptr) stack.push_back(v->def());
      order_.Erase(n);
      graph_.Erase(n);
    }
  }

  // Lets all users of an input see it permuted.
  Status PermuteInput(Value* input, const AxisMap& map) {
    const std::vector<Use> uses(input->uses().begin(), input->uses().end());
    NN_ASSIGN(Value* const permuted, Rearranged(input, map));
    for (const Use& u : uses) graph_.SetInput(u.node, static_cast<size_t>(u.index), permuted);
    return {};
  }

  Result<Value*> Rearranged(Value* v, const AxisMap& map) {
    auto& made = made_[v];
    for (const auto& [known, result] : made)
      if (known == map) return result;
    const Node* next = graph_.After(v);
    NN_ASSIGN(Value* const result, Rearrange(graph_, v, map));
    for (const Value* x = result; x != v && x->def() != nullptr; x = x->def()->input(0))
      order_.AddBefore(x->def(), next);
    made.emplace_back(map, result);
    return result;
  }

  Graph& graph_;
  NodeOrder& order_;
  const AxesOptions& options_;
  uint64_t steps_ = 0;
  std::deque<Task> queue_;
  std::unordered_map<Value*, AxisMap> maps_;
  std::unordered_set<Value*> fixed_;
  std::unordered_map<Node*, std::optional<Change>> nodes_;
  std::unordered_set<Node*> touched_axis_nodes_;
  std::unordered_map<Value*, std::vector<std::pair<AxisMap, Value*>>> made_;
};

// Floods that were not worth their cost. A flood that starts in one of them with the map that its
// value has there would reach the same values again, and is skipped until something in it changes.
class RejectedFloods {
 public:
  void Add(const Flood& flood) {
    const auto maps = std::make_shared<Maps>(flood.maps());
    for (const auto& [v, map] : *maps) of_value_[v].push_back(maps);
  }
  bool Has(Value* start, const AxisMap& map) const {
    const auto it = of_value_.find(start);
    return it != of_value_.end() && std::ranges::any_of(it->second, [&](const auto& maps) {
             const auto at = maps->find(start);
             return at != maps->end() && at->second == map;
           });
  }
  // Forgets those that the change of a flood, which is about to be applied, may affect.
  void Forget(const Flood& flood) {
    for (const Node* n : flood.TouchedNodes())
      for (const auto& values : {n->inputs(), n->outputs()})
        for (Value* v : values)
          if (const auto it = of_value_.find(v); it != of_value_.end()) {
            for (const auto& maps : it->second) maps->clear();
            of_value_.erase(it);
          }
  }

 private:
  using Maps = std::unordered_map<Value*, AxisMap>;
  std::unordered_map<Value*, std::vector<std::shared_ptr<Maps>>> of_value_;
};

}  // namespace

Result<bool> ChangeAxesOutside(Graph& graph, const AxesOptions& options) {
  // Work limit, per node, of all floods together; beyond it the rest is unchanged.
  constexpr uint64_t kMaxSteps = 1000;
  NN_RETURN_IF_ERROR(RemoveDeadCode(graph));
  bool changed = true;
  bool ever = false;
  uint64_t steps = 0;
  while (std::exchange(changed, false)) {
    std::vector<Node*> nodes;
    for (Node& n : graph.nodes())
      if (AxisMapOf(n)) nodes.push_back(&n);
    if (nodes.empty()) break;
    NodeOrder order(graph);
    RejectedFloods rejected;
    for (Node* node : nodes) {
      for (const bool at_output : {true, false}) {
        // The node may have been erased, or replaced at the same address.
        if (!order.Has(node) || steps > kMaxSteps * (order.size() + kMaxSteps)) break;
        const auto node_map = AxisMapOf(*node);
        if (!node_map) break;
        Value* const start = at_output ? node->output() : node->input(0);
        const AxisMap map = at_output ? node_map->Inverse() : *node_map;
        if (rejected.Has(start, map)) continue;
        Flood flood(graph, order, options);
        const bool started = flood.Start(start, map);
        steps += flood.steps();
        if (!started) continue;
        if (flood.CostDelta() >= 0) {
          rejected.Add(flood);
          continue;
        }
        rejected.Forget(flood);
        NN_RETURN_IF_ERROR(flood.Apply());
        changed = ever = true;
        break;
      }
    }
  }
  if (!ever) return false;
  NN_RETURN_IF_ERROR(RemoveDeadCode(graph));
  NN_RETURN_IF_ERROR(InferGraph(graph));
  return true;
}

Result<bool> ChangeAxes(Graph& graph, const AxesOptions& options) {
  AxesOptions inside = options;
  inside.moves_interface = false;
  bool ever = false;
  NN_RETURN_IF_ERROR(ForEachRegion(graph, [&](Graph& region) {
    return ChangeAxes(region, inside).map([&](bool changed) { ever = ever || changed; });
  }));
  // What crosses a border may be moved on, and the other way round.
  constexpr int kMaxRounds = 2;
  for (int round = 0; round < kMaxRounds; ++round) {
    NN_ASSIGN(const bool crossed, ChangeAxesOfRegions(graph, inside));
    ever = ever || crossed;
    if (round != 0 && !crossed) break;
    NN_ASSIGN(const bool moved, ChangeAxesOutside(graph, options));
    ever = ever || moved;
    if (!moved) break;
  }
  return ever;
}

}  // namespace nn
