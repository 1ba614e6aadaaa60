// Runs of several steps, which pass states along (--steps, --carry, --state).
#pragma once

#include <cstddef>
#include <vector>

#include "apps/nnrun/options.h"
#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/type.h"
#include "tensorio/named_tensor.h"

namespace nn::app {

// Whether the array has a part for each step of a run: one more axis than its input, of their
// number.
bool HasParts(const Tensor& array, const Type& input, const RunOptions& options);
// Whether --carry names input i.
bool IsCarried(const Graph& graph, size_t i, const RunOptions& options);

// Runs the model step by step: an input that --carry names, or a state of the model, gets the value
// of its output in the step before. The file of --state has its value before the first step, and
// after the run that after the last one. Without either, it is the initial value of the model, or
// zeros. The outputs do not contain states of the model; with --steps, they have a first axis of
// steps. `graph` has only these outputs.
struct SequenceResult {
  std::vector<NamedTensor> outputs;
  Graph graph;
};
Result<SequenceResult> RunSequence(ImportedModel model, const ReadModel& read,
                                   const RunOptions& options);

}  // namespace nn::app
