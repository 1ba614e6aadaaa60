// The limits of a run, and what several runs at the same time have of them. Operations on elements
// are counted by WorkOf (ir/eval.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "nnsuite/options.h"

namespace nn {

using nnsuite::RunLimits;

// The number of models at the same time, of so many; 0 are asked for: one per processor.
size_t JobsOf(uint64_t asked, size_t models);

// The share of each of several runs at the same time: an equal part of the memory, and, if
// `threads` is 0 (all processors), of these.
void ShareAmong(size_t jobs, RunLimits& limits, size_t& threads);

}  // namespace nn
