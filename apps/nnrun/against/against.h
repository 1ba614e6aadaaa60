// nnrun --against: where two models diverge, or a model diverges from recorded values.
#pragma once

#include "apps/nnrun/options.h"
#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::app {

// Compares the values of the model with those of options.against; false if they part. `graph` and
// `read` are as for GivenInputs().
Result<bool> RunAgainst(Graph graph, const ReadModel& read, const RunOptions& options,
                        RunReport& report);

}  // namespace nn::app
