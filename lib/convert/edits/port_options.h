// Options about the inputs and outputs of a graph: shapes, bounds and names.
#pragma once

#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "nnsuite/convert.h"

namespace nn {

// The names after ConvertOptions::renamed_inputs and renamed_outputs, which all apply at once.
// kUsage for texts that name no port, and names that are taken: different names stay different,
// also those of inputs and outputs.
Result<PortNames> NewNames(const nnsuite::ConvertOptions& options, const PortNames& names);

// Binds the shapes, unless ConvertOptions::edits do, clips and renames. All ports have names
// (NamePorts()).
Status PreparePorts(Graph& graph, const nnsuite::ConvertOptions& options);

}  // namespace nn
