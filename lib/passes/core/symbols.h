// Symbols in the types of a graph.
#pragma once

#include <map>
#include <string>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/types/dim.h"

namespace nn {

// Replaces symbols by sizes or other symbols, in regions as well; BindSymbols() in
// passes/core/passes.h is the same for numbers. Unlisted symbols stay. Errors are those of
// InferGraph.
Status SubstituteSymbols(Graph& graph, const std::map<std::string, Dim>& symbols);

}  // namespace nn
