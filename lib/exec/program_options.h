// The options of programs and of their runs: what nnrun, C and Python call the members of the
// public structs, and what they do.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include <cstdint>

#include "base/options.h"

namespace nn {

// Each table describes the struct of its name.
OptionTable RunLimitTable();
OptionTable ProgramOptionTable();

// Limit of options: threads of a run.
inline constexpr int64_t kMaxRunThreads = 1024;

}  // namespace nn
