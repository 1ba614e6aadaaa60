// All details of one operator: nninspect --node.
#pragma once

#include <string>
#include <vector>

#include "apps/nninspect/tensors.h"
#include "base/json.h"

namespace nn::app {

// An input or output of an operator.
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
  std::vector<TensorRow> constants;  // that it reads, with statistics
};

// The operators that match `name` (FindOperators). Requires a model loaded in full.
Result<std::vector<NodeDetails>> DescribeNodes(const LoadedModel& model, const std::string& name);

std::string NodesText(const std::vector<NodeDetails>& nodes);
Json NodesJson(const std::vector<NodeDetails>& nodes);

}  // namespace nn::app
