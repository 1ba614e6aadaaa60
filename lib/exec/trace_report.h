// The trace of a run in Chrome's trace event format.
#pragma once

#include <string>

#include "exec/program.h"

namespace nn {

// The trace of a run of the program, which has a plan. One track has the steps, the others what
// each thread did. `name` is that of the model.
std::string TraceText(const Program& program, const RunTrace& trace, const std::string& name);

}  // namespace nn
