// Runs of several steps, which pass states along, as those of nnrun --steps, --carry and --state.
//
//   auto run = nnsuite::RunSequence(model, {.inputs_file = "audio.npz"}, {.steps = 100});
//   if (!run) ...
//   std::cout << run->outputs[0].tensor.shape()[0] << " steps\n";
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nnsuite/error.h"
#include "nnsuite/inputs.h"
#include "nnsuite/program.h"
#include "nnsuite/progress.h"
#include "nnsuite/shapes.h"
#include "nnsuite/tensor.h"

namespace nnsuite {

class Model;

struct SequenceOptions {
  // Outputs get a first axis of the steps. An input with such an axis has its value for each step,
  // another one is the same in all. nullopt: one step, without the axis.
  std::optional<int64_t> steps = std::nullopt;
  // "OUT=IN": the input IN gets the value of the output OUT in the step before.
  std::vector<std::string> carry = {};
  // An .npz or .safetensors file: the states before the first step, if it exists, and it gets those
  // after the last. "": none.
  std::string state = {};

  // Whether an option is set.
  bool is_set() const { return steps || !carry.empty() || !state.empty(); }
};

struct SequenceRun {
  std::vector<NamedTensor> outputs;  // without the states of the model
  // After the last step: the states of the model, and the inputs of SequenceOptions::carry.
  std::vector<NamedTensor> states;
  // A sentence for each output whose shape changes from step to step: it is that of the last step.
  std::vector<std::string> notes;
};

// Runs the model step by step. A state that is neither given like an input nor in the file begins
// with the initial value of the model, or zeros. `progress` is told of "steps". Errors: those of
// ReadInputs and of Program; kUsage for options that do not fit the model. The state file is
// written only after all steps.
Result<SequenceRun> RunSequence(const Model& model, const InputOptions& inputs,
                                const SequenceOptions& options = {}, const InputShapes& shapes = {},
                                const ProgramOptions& program = {},
                                const ProgressCallback& progress = nullptr);

}  // namespace nnsuite
