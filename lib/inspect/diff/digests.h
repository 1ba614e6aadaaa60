// Digests of a model.
#pragma once

#include "base/status.h"
#include "inspect/loaded.h"
#include "tensorio/graph_digest.h"

namespace nn::inspect {

// DigestGraph of the imported model. Unsupported operators contribute everything that the file has
// about them, with subgraphs in file order. The model must be loaded in full. With bound shapes
// (LoadOptions::bind), the digests are those of the bound graph.
//
// Errors: those of GraphOf, of TensorsOf and of reading tensors.
Result<GraphDigests> DigestsOf(const LoadedModel& model);

}  // namespace nn::inspect
