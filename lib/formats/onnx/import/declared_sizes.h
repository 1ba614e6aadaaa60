// Sizes that a file declares for the results of nodes.
#pragma once

#include <set>
#include <string>

#include "ir/graph.h"
#include "ir/types/type.h"

namespace nn::onnx {

// The symbols in the types of the graph's inputs.
std::set<std::string> InputSymbols(const Graph& graph);

// The inferred type, completed by the declared one. A size that follows from those of inputs stays:
// exporters declare numbers of the sample that they traced, and runtimes do not rely on them.
Type Complete(const Type& inferred, const Type& declared, const std::set<std::string>& symbols);

}  // namespace nn::onnx
