// Inputs that get the value of an output of the run before: --carry of nnrun and nnconvert.
#pragma once

#include <string>

#include "base/status.h"
#include "ir/graph.h"
#include "passes/interface/edits.h"

namespace nn {

// The ports of "OUT=IN", which PortFinder finds. kUsage for ports that do not exist, and for types
// that differ in more than their sizes.
Result<Connection> CarriedPortsOf(const std::string& text, const Graph& graph);

}  // namespace nn
