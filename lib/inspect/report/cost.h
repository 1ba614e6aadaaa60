// The cost of running a model, estimated from its graph.
#pragma once

#include "base/status.h"
#include "inspect/loaded.h"
#include "nnsuite/inspect.h"

namespace nn::inspect {

using nnsuite::ModelCost;
using nnsuite::OperatorCost;

// Requires the graph; the errors are those of GraphOf.
Result<ModelCost> CostOf(const LoadedModel& model);

}  // namespace nn::inspect
