// Comparison with expected outputs (--expect).
#pragma once

#include <span>

#include "apps/nnrun/options.h"
#include "base/status.h"
#include "ir/graph.h"
#include "tensorio/named_tensor.h"

namespace nn::app {

// Compares with the arrays of options.expected; false on a mismatch. Outputs without an array are
// listed as not compared. `outputs` are those of the graph, and then those of ClassOutputs().
Result<bool> CompareWithFile(const Graph& graph, std::span<const NamedTensor> outputs,
                             const RunOptions& options, RunReport& report);

}  // namespace nn::app
