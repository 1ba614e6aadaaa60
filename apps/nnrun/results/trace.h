// The trace of a run (--trace).
#pragma once

#include "apps/nnrun/options.h"
#include "base/status.h"
#include "exec/program.h"

namespace nn::app {

// Writes the trace of the program's last run to options.trace: Chrome's trace event format. One
// track has the steps, the others what each thread did.
Status WriteTrace(const Program& program, const RunTrace& trace, const RunOptions& options);

}  // namespace nn::app
