// Runs models with arbitrary declarations: the outputs must not depend on the backend, the number
// of threads, fusing and the contents of uninitialized memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exec/run_limits.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn::test {

// Fills memory that is allocated from now on with one of two patterns, selected by `number` (0 or
// 1). The default calls PoisonMemory() and configures malloc, which has no effect on a sanitizer's
// allocator.
using PoisonFn = void (*)(int number);
void SetPoison(PoisonFn poison);

struct ModelRun {
  bool ran = false;      // to the end, on all backends
  bool skipped = false;  // exceeds the work or memory of a test
  std::string broken;    // empty, or the defect
};

// The limits of a run; models that exceed them are skipped.
inline constexpr RunLimits kRunLimits{
    .max_memory = uint64_t{1} << 28, .max_work = uint64_t{1} << 30, .max_steps = 1000};

// Runs a graph after setting its dynamic dimensions to small sizes. `inputs` are used if their
// types fit, otherwise seeded ones with small integers. Broken: a kInternal error, an exception,
// results that differ between two backends, thread counts, poisons, or with and without fusing;
// errors count as results by their kind.
ModelRun RunModelEverywhere(const Graph& graph, std::span<const Tensor> inputs,
                            const RunLimits& limits = kRunLimits);

}  // namespace nn::test
