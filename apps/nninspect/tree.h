// Operators and parameters by scope: nninspect --tree.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nninspect/loaded.h"
#include "base/json.h"

namespace nn::app {

// A scope: a part of the operators' names between "/" (or "."), or a subgraph or function. Counts
// include those of the branches below. A tensor is counted at its first user.
struct TreeBranch {
  std::map<std::string, TreeBranch, std::less<>> branches;
  std::vector<std::string_view> order;  // of the branches, in file order
  uint64_t operators = 0;
  uint64_t parameters = 0;  // elements
  uint64_t bytes = 0;
};

Result<TreeBranch> TreeOf(const LoadedModel& model);

std::string TreeText(const TreeBranch& tree);
Json TreeJson(const TreeBranch& tree);

}  // namespace nn::app
