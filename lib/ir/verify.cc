#include "ir/verify.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>

#include "base/text.h"
#include "ir/op_def.h"

namespace nn {
namespace {

Status CheckPorts(const std::vector<Port>& ports, std::string_view what,
                  const std::unordered_set<const Value*>& owned) {
  std::set<std::string_view> names;
  for (const Port& p : ports) {
    if (!owned.contains(p.value))
      return InternalError("{} {} is not a value of the graph", what, Quote(p.name));
    if (!p.name.empty() && !names.insert(p.name).second)
      return InternalError("two {}s are named {}", what, Quote(p.name));
  }
  return {};
}

}  // namespace

Status Verify(Graph& graph) {
  std::unordered_set<const Value*> owned;
  std::unordered_set<const Value*> defined;
  for (const Value& v : graph.values()) {
    owned.insert(&v);
    if (v.is_constant()) defined.insert(&v);
  }
  NN_RETURN_IF_ERROR(CheckPorts(graph.inputs(), "input", owned));
  NN_RETURN_IF_ERROR(CheckPorts(graph.outputs(), "output", owned));
  for (const Port& p : graph.inputs()) defined.insert(p.value);

  size_t uses = 0;
  for (const Node& n : graph.nodes()) {
    for (size_t i = 0; i < n.inputs().size(); ++i) {
      const Value* v = n.inputs()[i];
      if (v == nullptr) continue;
      ++uses;
      if (!owned.contains(v))
        return InternalError("{}: input {} is not a value of the graph", n.Describe(), i);
      if (!defined.contains(v))
        return InternalError("{}: input {} is used before it is defined", n.Describe(), i);
      const Use use{const_cast<Node*>(&n), static_cast<int>(i)};
      if (std::count(v->uses().begin(), v->uses().end(), use) != 1)
        return InternalError("{}: input {} is not in its value's use list", n.Describe(), i);
    }
    for (size_t i = 0; i < n.outputs().size(); ++i) {
      const Value* v = n.outputs()[i];
      if (!owned.contains(v) || v->def() != &n || v->def_index() != static_cast<int>(i))
        return InternalError("{}: output {} has another definition", n.Describe(), i);
      if (!defined.insert(v).second)
        return InternalError("{}: output {} is defined twice", n.Describe(), i);
    }
  }
  for (const Value& v : graph.values()) uses -= v.uses().size();
  if (uses != 0) return InternalError("use lists hold uses that no node has");
  for (const Port& p : graph.outputs())
    if (!defined.contains(p.value))
      return InternalError("output {} is never defined", Quote(p.name));
  return InferGraph(graph);
}

}  // namespace nn
