// What nninspect prints about one model.
#pragma once

#include "apps/nninspect/options.h"
#include "base/status.h"
#include "inspect/report/inspection.h"

namespace nn::app {

using inspect::Inspection;

// The limits and shapes of the arguments.
inspect::LoadOptions LoadOptionsOf(const InspectOptions& options);

// Shapes from the options are used for the multiply-adds and shown in the summary's inputs and
// outputs.
Result<Inspection> Inspect(const InspectOptions& options);

}  // namespace nn::app
