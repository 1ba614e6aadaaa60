// The form in which models of two formats are compared.
#pragma once

#include <optional>

#include "formats/format.h"
#include "ir/graph.h"

namespace nn::inspect {

// The graph legalized for the format, with unsupported nodes left unchanged, and window padding and
// attributes in a canonical form; nullopt if legalization fails.
std::optional<Graph> InFormOf(const Format& format, const Graph& graph);

}  // namespace nn::inspect
