#include "exec/runtime/planning/split.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/copy.h"
#include "ir/op_def.h"
#include "ir/value_table.h"

namespace nn {
namespace {

bool IsFixed(const Value* v) {
  return v == nullptr || (v->type().const_dims() && v->dtype() != DType::kString);
}

// Copies of parts of a graph in another one.
class Copier {
 public:
  Copier(const Graph& from, Graph& to) : to_(to), copier_(to) {
    to_.name = from.name;
    for (const Port& p : from.inputs()) AddInput(p.name, p.value);
  }

  void AddInput(const std::string& name, const Value* v) {
    copier_.Set(v, to_.AddInput(name, v->type()));
  }
  void AddOutput(const std::string& name, const Value* v) { to_.AddOutput(name, copier_.Of(v)); }
  void AddNode(const Node& node) { copier_.Add(node); }

 private:
  Graph& to_;
  NodeCopier copier_;
};

}  // namespace

std::optional<SplitGraph> SplitAtOpenShapes(const Graph& graph) {
  ValueTable<uint8_t> is_known(graph);
  for (const Value& v : graph.values())
    if (v.def() == nullptr) is_known[&v] = IsFixed(&v) ? 1 : 0;
  SplitGraph out;
  Copier known(graph, out.known), open(graph, out.open);
  for (const Node& node : graph.nodes()) {
    const bool is_first =
        std::ranges::all_of(node.inputs(),
                            [&](const Value* v) { return v == nullptr || is_known[v] != 0; }) &&
        std::ranges::all_of(node.outputs(), IsFixed);
    for (const Value* v : node.outputs()) is_known[v] = is_first ? 1 : 0;
    if (is_first) known.AddNode(node);
  }
  if (out.known.nodes().empty()) return std::nullopt;
  for (const Node& node : graph.nodes())
    for (const Value* v : node.outputs()) {
      const bool is_used = graph.IsOutput(v) || std::ranges::any_of(v->uses(), [&](const Use& use) {
                             return is_known[use.node->output()] == 0;
                           });
      if (is_known[v] == 0 || !is_used) continue;
      known.AddOutput("", v);
      open.AddInput("", v);
    }
  for (const Node& node : graph.nodes())
    if (is_known[node.output()] == 0) open.AddNode(node);
  for (const Port& p : graph.outputs()) open.AddOutput(p.name, p.value);
  return out;
}

}  // namespace nn
