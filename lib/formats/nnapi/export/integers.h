// Integers and booleans, which NNAPI 1.0 does not compute, as float32.
// Design: docs/design/038-nnapi-arithmetic.md.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "ir/graph.h"
#include "rewrite/legalize.h"

namespace nn::nnapi {

// Computes integers and booleans (0 and 1) in float32, where their ranges prove that it represents
// them exactly, and comparisons, selections and orders by arithmetic. Inputs and outputs of the
// graph become float32 with them; inputs are taken to be within 2^24. Nodes for which this is not
// possible stay as they are. Counts each node as a rewrite.
Status IntegersAsFloats(Graph& graph, RewriteCounts* counts);

// Why a node that computes integers or booleans, or selects by them, stays; nullopt for others.
std::optional<std::string> WhyNotAsFloats(const Node& node);

}  // namespace nn::nnapi
