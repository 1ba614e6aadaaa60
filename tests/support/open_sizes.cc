#include "support/open_sizes.h"

#include <map>
#include <set>
#include <string>

#include "passes/core/passes.h"

namespace nn::test {

Status BindOpenSizes(Graph& graph) {
  constexpr int64_t kBatch = 2;
  constexpr int64_t kOpenSize = 4;
  std::map<std::string, int64_t> symbols;
  for (const Port& p : graph.inputs()) {
    const Type& type = p.value->type();
    if (!type.ranked()) return UsageError("an input has no rank");
    for (int i = 0; i < type.rank(); ++i) {
      std::set<std::string> names;
      type.dim(i).CollectSymbols(names);
      for (const std::string& name : names) symbols.emplace(name, i == 0 ? kBatch : kOpenSize);
    }
  }
  return BindSymbols(graph, symbols);
}

}  // namespace nn::test
