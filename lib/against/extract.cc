#include "against/extract.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "against/drift.h"
#include "ir/copy.h"

namespace nn::against {
namespace {

// The nodes between the starts and the value.
std::unordered_set<const Node*> NodesBetween(const std::vector<const Value*>& starts,
                                             const Value* value) {
  const std::unordered_set<const Value*> ends(starts.begin(), starts.end());
  std::unordered_set<const Node*> nodes;
  std::vector<const Value*> stack = {value};
  while (!stack.empty()) {
    const Value* const v = stack.back();
    stack.pop_back();
    if (v->def() == nullptr || !nodes.insert(v->def()).second) continue;
    for (const Value* x : v->def()->inputs())
      if (x != nullptr && !ends.contains(x)) stack.push_back(x);
  }
  return nodes;
}

class UniqueNames {
 public:
  std::string Next(const Value& value) {
    const std::string base = NameOf(value);
    std::string name = base;
    for (int i = 1; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    return name;
  }

 private:
  std::set<std::string> names_;
};

}  // namespace

std::vector<const Value*> StartsOf(const Value* value,
                                   const std::function<bool(const Value*)>& is_start) {
  std::vector<const Value*> out;
  std::unordered_set<const Value*> seen = {value};
  std::vector<const Value*> stack = {value};
  while (!stack.empty()) {
    const Value* const v = stack.back();
    stack.pop_back();
    if (v->is_constant()) continue;
    if (v->def() == nullptr || (v != value && is_start(v))) {
      out.push_back(v);
      continue;
    }
    const auto inputs = v->def()->inputs();
    for (auto x = inputs.rbegin(); x != inputs.rend(); ++x)
      if (*x != nullptr && seen.insert(*x).second) stack.push_back(*x);
  }
  return out;
}

Result<Graph> Extract(const Graph& graph, const std::vector<const Value*>& starts,
                      const std::vector<Tensor>& tensors, const Value* value) {
  Graph out;
  UniqueNames names;
  NodeCopier copier(out);
  for (size_t i = 0; i < starts.size(); ++i)
    copier.Set(starts[i], out.AddInput(names.Next(*starts[i]),
                                       Type(tensors[i].dtype(), ToDims(tensors[i].dims()),
                                            starts[i]->type().quant)));
  const auto nodes = NodesBetween(starts, value);
  for (const Node& node : graph.nodes())
    if (nodes.contains(&node)) NN_RETURN_IF_ERROR(copier.AddInferred(node));
  out.AddOutput(names.Next(*value), copier.Of(value));
  return out;
}

}  // namespace nn::against
