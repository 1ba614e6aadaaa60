// Forms of matrix products that formats want. Each function is the `apply` of a Rewrite
// (rewrite/target.h), and keeps the bits.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// A product with vectors -> with matrices: one row on the left, one column on the right. False if
// the operands are matrices, or a bias follows the columns that a vector on the right does not
// have.
Result<bool> VectorsAsMatrices(Graph& graph, Node& node);

}  // namespace nn
