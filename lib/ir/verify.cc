#include "ir/verify.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "ir/op_def.h"
#include "ir/value_table.h"

namespace nn {
namespace {

struct State {
  const Value* owned = nullptr;  // the graph's value of this id
  uint8_t defined = false;
};
using States = ValueTable<State>;

bool IsOwned(const States& states, const Value* v) {
  const State* state = states.Find(v);
  return state != nullptr && state->owned == v;
}

Status CheckPorts(const std::vector<Port>& ports, std::string_view what, const States& states) {
  std::set<std::string_view> names;
  for (const Port& p : ports) {
    if (!IsOwned(states, p.value))
      return InternalError("{} {} is not a value of the graph", what, Quote(p.name));
    if (!p.name.empty() && !names.insert(p.name).second)
      return ModelError("two {}s are named {}", what, Quote(p.name));
  }
  return {};
}

// Searches the use lists of values.
class UseSearch {
 public:
  // Whether the list has input `index` of the node.
  bool Has(const Value& value, const Node& node, int index) {
    if (value.uses().size() < UseList::kManyUses)
      return std::ranges::any_of(value.uses(),
                                 [&](const Use& u) { return u.node == &node && u.index == index; });
    auto& sorted = sorted_[&value];
    if (sorted.empty())
      for (const Use& u : value.uses()) sorted.insert(KeyOf(u.node, u.index));
    return sorted.contains(KeyOf(&node, index));
  }

 private:
  using Key = std::pair<uintptr_t, int>;
  static Key KeyOf(const Node* node, int index) {
    return {reinterpret_cast<uintptr_t>(node), index};
  }

  std::unordered_map<const Value*, std::set<Key>> sorted_;  // of long lists
};

}  // namespace

Status CheckQuant(const Type& type) {
  if (type.quant == nullptr) return {};
  const Quant& q = *type.quant;
  if (q.scales.empty()) return ModelError("{}: the quantization has no scale", type.ToString());
  if (!q.zero_points.empty() && q.zero_points.size() != q.scales.size())
    return ModelError("{}: has {} scales but {} zero points", type.ToString(), q.scales.size(),
                      q.zero_points.size());
  for (const int64_t zero : q.zero_points)
    if (IsInteger(type.dtype) && (zero < MinInteger(type.dtype) || zero > MaxInteger(type.dtype)))
      return ModelError("{}: zero point {} is outside the range of {}", type.ToString(), zero,
                        DTypeName(type.dtype));
  if (q.scales.size() == 1) return {};
  if (!q.per_axis())
    return ModelError("{}: has {} scales but no axis", type.ToString(), q.scales.size());
  if (!type.ranked()) return {};
  if (q.axis >= type.rank())
    return ModelError("{}: quantization axis {} is out of range", type.ToString(), q.axis);
  const Dim& d = type.dim(q.axis);
  if (d.is_const() && !(d == static_cast<int64_t>(q.scales.size())))
    return ModelError("{}: has {} scales along axis {} of size {}", type.ToString(),
                      q.scales.size(), q.axis, d.value());
  return {};
}

Status CheckStructure(const Graph& graph) {
  States states(graph);
  for (const Value& v : graph.values()) {
    State& state = states[&v];
    if (state.owned != nullptr) return InternalError("two values have the id {}", v.id());
    state = {&v, v.is_constant()};
  }
  NN_RETURN_IF_ERROR(CheckPorts(graph.inputs(), "input", states));
  NN_RETURN_IF_ERROR(CheckPorts(graph.outputs(), "output", states));
  for (const Port& p : graph.inputs()) states[p.value].defined = true;

  UseSearch listed;
  size_t uses = 0;
  for (const Node& n : graph.nodes()) {
    for (size_t i = 0; i < n.inputs().size(); ++i) {
      const Value* v = n.inputs()[i];
      if (v == nullptr) continue;
      ++uses;
      if (!IsOwned(states, v))
        return InternalError("{}: input {} is not a value of the graph", n.Describe(), i);
      if (!states[v].defined)
        return InternalError("{}: input {} is used before it is defined", n.Describe(), i);
      if (!listed.Has(*v, n, static_cast<int>(i)))
        return InternalError("{}: input {} is not in its value's use list", n.Describe(), i);
    }
    for (size_t i = 0; i < n.outputs().size(); ++i) {
      const Value* v = n.outputs()[i];
      if (!IsOwned(states, v) || v->def() != &n || v->def_index() != static_cast<int>(i))
        return InternalError("{}: output {} has a different definition", n.Describe(), i);
      if (states[v].defined)
        return InternalError("{}: output {} is defined twice", n.Describe(), i);
      states[v].defined = true;
    }
  }
  // All uses of the nodes are listed, so lists of the same total size have no other entries.
  size_t entries = 0;
  for (const Value& v : graph.values()) entries += v.uses().size();
  if (uses != entries) return InternalError("use lists contain uses that no node has");
  for (const Port& p : graph.outputs())
    if (!states[p.value].defined) return InternalError("output {} is never defined", Quote(p.name));
  return {};
}

Status Verify(Graph& graph) {
  NN_RETURN_IF_ERROR(CheckStructure(graph));
  return InferGraph(graph);
}

}  // namespace nn
