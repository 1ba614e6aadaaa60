// Every value of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

// Appends every computed value to the outputs. Returns the number of outputs added.
size_t ExposeSteps(Graph& graph);
// The name of a value that ExposeSteps() adds, unless another one has it.
std::string SavedName(const Value& value);
// Writes the inputs and outputs of a graph after ExposeSteps() to a folder: .npy files and
// index.json. `progress`, which may be null, is told how many are written; an error of it ends the
// call.
Status SaveSteps(const std::string& directory, const Graph& graph, size_t own_outputs,
                 std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                 const std::function<Status(uint64_t done, uint64_t total)>& progress);

}  // namespace nn
