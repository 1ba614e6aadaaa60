// Runs of models that may declare anything: the same outputs whatever the backend, the number of
// threads, fusing and the contents of memory that nobody wrote to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exec/run_limits.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn::test {

// Fills memory that the library asks for from now on with a pattern that `number` (0 or 1) chooses.
// The default is PoisonMemory(), and has malloc do it, which a sanitizer's allocator does not.
using PoisonFn = void (*)(int number);
void SetPoison(PoisonFn poison);

struct ModelRun {
  bool ran = false;      // to the end, on all backends
  bool skipped = false;  // more work or memory than a test may take
  std::string broken;    // empty, or what should not have been
};

// What a run may take here; models that take more are skipped.
inline constexpr RunLimits kRunLimits{.max_memory = uint64_t{1} << 28,
                                      .max_work = uint64_t{1} << 30};

// Runs a graph, whose open dimensions become small ones. `inputs` are used where their types fit,
// otherwise seeded ones, of which integers are small. Broken: an error of the kind kInternal, an
// exception, results that differ between two backends, thread counts, poisons, or with and without
// fusing; errors count as results by their kind.
ModelRun RunModelEverywhere(const Graph& graph, std::span<const Tensor> inputs,
                            const RunLimits& limits = kRunLimits);

}  // namespace nn::test
