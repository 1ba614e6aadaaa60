// Inspects all models of a folder or pattern.
#pragma once

#include "apps/nninspect/options.h"
#include "base/status.h"

namespace nn::app {

// Prints a row for each model, or with --format json a report of each on a line of its own; returns
// the exit code. kUsage for options that are for one model.
Result<int> InspectMany(const InspectOptions& options);

}  // namespace nn::app
