// Runs all models of a folder or pattern.
#pragma once

#include <functional>

#include "apps/nnrun/options.h"
#include "base/status.h"

namespace nn::app {

// Runs one model and reports it; false if a check failed.
using RunOne = std::function<Result<bool>(const RunOptions& options, RunReport& report)>;

// Runs each model on generated inputs and writes its outputs below the folder --output, with the
// extension .npz in place of that of the model. With --resume, models whose file exists are
// skipped. Prints a row for each model, or with --format json a report of each on a line of its
// own; returns the exit code. kUsage for options that are for one model.
Result<int> RunManyModels(const RunOptions& options, const RunOne& run);

}  // namespace nn::app
