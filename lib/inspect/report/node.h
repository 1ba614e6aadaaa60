// All details of single operators.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "inspect/loaded.h"
#include "inspect/report/tensors.h"

namespace nn::inspect {

// An input or output of an operator.
struct Operand {
  std::string name;  // "" for an absent one
  std::string type;  // "f32[1, 8]"; "" if it is not known
  bool constant = false;
};

struct NodeDetails {
  size_t index = 0;
  const OperatorSummary* op = nullptr;  // in the model's summary
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::vector<TensorRow> constants;  // that it reads, with statistics
};

// Describes operators, given as indices into ModelSummary::operators (OperatorsNamed). Attributes
// are complete if the model was loaded in full, and types are known if it was loaded with its
// graph. Reads the constants of the operators.
//
// kUsage for an index that is out of range, and the errors of TensorsOf.
Result<std::vector<NodeDetails>> DescribeNodes(const LoadedModel& model,
                                               std::span<const size_t> operators);

}  // namespace nn::inspect
