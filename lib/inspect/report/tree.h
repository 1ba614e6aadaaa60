// Operators and parameters of a model by scope.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "inspect/loaded.h"

namespace nn::inspect {

// A scope: a part of the operators' names between "/" (or "."), or a subgraph or function. Counts
// include those of the branches below. A tensor is counted at its first user.
struct TreeBranch {
  std::string name;  // unique among its siblings; "" for the model
  uint64_t operators = 0;
  uint64_t parameters = 0;  // elements
  uint64_t bytes = 0;
  std::vector<TreeBranch> branches;  // in file order
};

// The names of the branches from the root to an operator.
std::vector<std::string> BranchesTo(const OperatorSummary& op);

// The tree of the whole model, at most 33 levels below the root. The errors are those of TensorsOf.
Result<TreeBranch> TreeOf(const LoadedModel& model);

}  // namespace nn::inspect
