// Every value of a run (--save-steps).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn::app {

// Appends every computed value to the outputs. Returns the number of outputs added.
size_t ExposeSteps(Graph& graph);
// The name of a value that ExposeSteps() adds, unless another one has it.
std::string SavedName(const Value& value);
// Writes the inputs and outputs of a graph after ExposeSteps() to a folder: .npy files and
// index.json.
Status SaveSteps(const std::string& directory, const Graph& graph, size_t own_outputs,
                 std::span<const Tensor> inputs, std::span<const Tensor> outputs);

}  // namespace nn::app
