// The inputs of runs, as the library takes them.
#pragma once

#include "base/status.h"
#include "convert/inputs/run_inputs.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "nnsuite/inputs.h"
#include "nnsuite/model.h"
#include "nnsuite/shapes.h"

namespace nn::api {

// kUsage for values of options that nnrun would refuse.
Result<RunInputs> InputsOf(const nnsuite::Model& model, const nnsuite::InputOptions& options,
                           const nnsuite::InputShapes& shapes);

// Imports the model with the set shapes. Refers to the arguments.
InputImporter ImporterOf(const ReadModel& read, const RunInputs& inputs, StatePorts states);

}  // namespace nn::api
