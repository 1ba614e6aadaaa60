// The other model of --against, and its inputs.
#pragma once

#include <vector>

#include "against/drift.h"
#include "apps/nnrun/options.h"
#include "base/status.h"
#include "convert/inputs/port_arrays.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/axis_map.h"

namespace nn::app {

// Another model, bound to the shapes of the inputs of a model.
struct OtherModel {
  Graph graph;
  std::vector<against::PortPair> inputs;  // positions in the model, and in this one
  std::vector<AxisMap> input_axes;        // from the axes of the model, by position in this one
  std::vector<against::PortPair> outputs;
};

// Reads the model of options.against and pairs its inputs and outputs with those of `graph`, whose
// shapes are known: by name, else by position. kUsage if an input has no counterpart.
Result<OtherModel> ReadOther(const Graph& graph, const RunOptions& options);

// The inputs of the other model, with the same real numbers. Where it is quantized and an input is
// not `given`, the input itself becomes what the quantized one represents.
Result<std::vector<Tensor>> InputsOfOther(const Graph& graph, const OtherModel& other,
                                          const PortArrays& given, std::vector<Tensor>& inputs);

}  // namespace nn::app
