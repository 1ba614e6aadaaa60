// Scalar reference evaluation of single nodes: the normative meaning of every operator.
#pragma once

#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

// Evaluates one node on the given inputs (absent ones null), whose shapes agree with the types of
// the node's inputs. Shapes that inference left open are taken from the inputs, and checked then.
// kUnsupported if the operator has no reference evaluation; kModel if an output is not what its
// type says.
Result<std::vector<Tensor>> EvalNode(const Node& node, const std::vector<const Tensor*>& inputs);

}  // namespace nn
