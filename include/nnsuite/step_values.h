// Writes every value of a run, as nnrun --save-steps does.
#pragma once

#include <string>

#include "nnsuite/error.h"
#include "nnsuite/inputs.h"
#include "nnsuite/program.h"
#include "nnsuite/progress.h"
#include "nnsuite/shapes.h"

namespace nnsuite {

class Model;

// Runs the model and writes inputs, intermediate values and outputs to the folder: an .npy file
// each, and index.json with their names, types, shapes and operators. `progress` is told of
// "values". Errors: those of ReadInputs and of Program; kUnsupported for types that .npy does not
// have; kIo.
Status SaveStepValues(const Model& model, const std::string& folder, const InputOptions& inputs,
                      const InputShapes& shapes = {}, const ProgramOptions& program = {},
                      const ProgressCallback& progress = nullptr);

}  // namespace nnsuite
