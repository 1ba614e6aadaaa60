// What PreprocessInput() (passes/interface/edits.h) leaves in the metadata of a graph.
#pragma once

#include <string>

#include "ir/graph.h"

namespace nn {

// Whether numbers (scale, mean, std, bias) were put before the input of this name.
bool IsNormalized(const Graph& graph, const std::string& input);

}  // namespace nn
