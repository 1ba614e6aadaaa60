// Recurrent layers with many steps, or with an unknown number of them, for targets without such
// layers.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/status.h"
#include "ir/graph.h"
#include "rewrite/legalize.h"

namespace nn {

// The symbols of the inputs that are numbers of steps of recurrent layers.
std::set<std::string> StepSymbols(const Graph& graph);

// Sets the number of steps of the recurrent layers that the target can hold in no form to `steps`,
// where it is a symbol of the inputs. Errors are those of BindSymbols.
Status BindLayerSteps(Graph& graph, const Target& target, int64_t steps);

// Replaces recurrent layers of at most `steps` steps that the target can hold in no form by
// operators for each step (ops/recurrent/unroll.h). Those that legalization unrolls are left to it.
// Adds what was done to `rewrites`.
Status UnrollLayers(Graph& graph, const Target& target, int64_t steps, RewriteCounts& rewrites);

}  // namespace nn
