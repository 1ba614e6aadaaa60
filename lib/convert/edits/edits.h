// Verifies edits of a graph (passes/interface/edits.h): runs it beside the model before the edits.
#pragma once

#include <vector>

#include "base/status.h"
#include "convert/verify/verify.h"
#include "ir/graph.h"
#include "passes/interface/edits.h"

namespace nn {

// Runs a graph, whose inputs have names, on inputs of any shapes that it accepts.
ModelFunction FunctionOf(Graph graph, const VerifyOptions& options);

// Compares the edited graph with what the edits say that it computes from `before`. Edits that are
// exact must keep all bits: Verification::passed is false otherwise.
Result<Verification> VerifyEdits(const std::vector<GraphEdit>& edits, const Graph& before,
                                 const Graph& edited, const VerifyOptions& options);

}  // namespace nn
