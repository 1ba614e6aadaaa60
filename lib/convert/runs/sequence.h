// Runs of several steps, which pass states along.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "convert/inputs/run_inputs.h"
#include "exec/program.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "nnsuite/sequence.h"
#include "tensorio/named_tensor.h"

namespace nn {

using nnsuite::SequenceOptions;

// What nnrun, C and Python call the members of the options, and what they do.
// Design: docs/design/069-described-options.md.
OptionTable SequenceOptionTable();

// Limit of options: steps of a sequence.
inline constexpr int64_t kMaxSequenceSteps = int64_t{1} << 30;

// What arrays say about the inputs of one step (ImportForInputs()). Refers to the options.
GivenShapeOf ShapesOfStep(const SequenceOptions& options);

// What a sequence tells its caller, and asks of it.
struct SequenceHooks {
  // The symbols of the batch, which is 1 unless a size is given, before the first step.
  std::function<void(const std::vector<std::string>& symbols)> batch = nullptr;
  // In place of nn::CompleteInputs() with the seed of the options.
  std::function<Result<std::vector<Tensor>>(const Graph&, std::span<const Domain>, PortArrays)>
      complete = nullptr;
  std::function<Status(uint64_t done, uint64_t total)> progress = nullptr;
};

struct SequenceResult {
  std::vector<NamedTensor> outputs;
  std::vector<NamedTensor> states;
  std::vector<std::string> notes;
  Graph graph;  // that has only the outputs
};

// Runs the model, which was imported with StatePorts::kAll: nnsuite::RunSequence().
Result<SequenceResult> RunSequence(ImportedModel model, const ReadModel& read,
                                   const RunInputs& inputs, const SequenceOptions& options,
                                   const ProgramOptions& program, const SequenceHooks& hooks = {});

}  // namespace nn
