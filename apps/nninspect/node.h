// All there is to say of one operator: nninspect --node.
#pragma once

#include <string>
#include <vector>

#include "apps/nninspect/tensors.h"
#include "base/json.h"

namespace nn::app {

// A value that an operator takes or gives.
struct Operand {
  std::string name;  // "" for an absent one
  std::string type;  // "f32[1, 8]"; "" if it is not known
  bool constant = false;
};

struct NodeDetails {
  size_t index = 0;
  const OperatorSummary* op = nullptr;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::vector<TensorRow> constants;  // that it takes, with statistics
};

// The operators that `name` means (FindOperators). Requires a model that was loaded in full.
Result<std::vector<NodeDetails>> DescribeNodes(const LoadedModel& model, const std::string& name);

std::string NodesText(const std::vector<NodeDetails>& nodes);
Json NodesJson(const std::vector<NodeDetails>& nodes);

}  // namespace nn::app
