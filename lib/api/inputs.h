// The inputs of runs, as the library takes them.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "convert/inputs/port_arrays.h"
#include "convert/inputs/run_inputs.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "ir/graph.h"
#include "nnsuite/inputs.h"
#include "nnsuite/model.h"
#include "nnsuite/shapes.h"

namespace nn::api {

// kUsage for values of options that nnrun would refuse.
Result<RunInputs> InputsOf(const nnsuite::Model& model, const nnsuite::InputOptions& options,
                           const nnsuite::InputShapes& shapes);

// A model that was imported for its inputs.
struct GivenModel {
  Graph graph;
  PortArrays given;                    // by input
  std::vector<std::string> constants;  // the names of inputs that are none of the graph
};
Result<GivenModel> GivenModelOf(const nnsuite::Model& model, const nnsuite::InputOptions& options,
                                const nnsuite::InputShapes& shapes);

// Imports the model with the set shapes. Refers to the arguments.
InputImporter ImporterOf(const ReadModel& read, const RunInputs& inputs, StatePorts states);

}  // namespace nn::api
