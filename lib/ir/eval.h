// Scalar reference evaluation of single nodes: the normative meaning of every operator.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

// What is left for a run to take.
struct EvalBudget {
  uint64_t bytes = std::numeric_limits<uint64_t>::max();  // of the outputs
  uint64_t work = std::numeric_limits<uint64_t>::max();   // see WorkOf
};

// Bytes of a tensor of this type: 0 where its shape is not known, the largest number where that
// overflows.
uint64_t BytesOf(const Type& type);

// Operations on elements that a node takes: its multiply-adds, but at least one for each element of
// its inputs and outputs. The largest number where that overflows; nullopt where shapes are not
// known.
std::optional<uint64_t> WorkOf(const Node& node);

// Evaluates one node on the given inputs (absent ones null). Shapes are those that inference finds
// for these inputs, contents included; the types that the node's outputs have are compared with
// them, before anything is allocated where inference can tell, and never relied on. kUnsupported if
// the operator has no reference evaluation; kModel if an output is not what its type says; kLimit,
// before anything is computed, if it takes more than the budget has, from which its work is taken.
Result<std::vector<Tensor>> EvalNode(const Node& node, const std::vector<const Tensor*>& inputs,
                                     EvalBudget* budget = nullptr);

}  // namespace nn
