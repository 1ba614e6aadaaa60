// Sizes that a model fixes become symbols. Part of the edits of sizes (passes/interface/edits.h).
// Design: docs/design/031-open-sizes.md.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/types/dim.h"

namespace nn {

struct OpenedSizes {
  std::map<std::string, int64_t> old;  // of the new symbols
  std::set<std::string> batch;         // those of them that are a batch
};

// Sets the shapes of inputs, by position, in which the new symbols take the place of numbers, and
// makes the graph follow. Returns the number of nodes that were rewritten. kUnsupported with the
// name of the node that fixes a size or joins the samples of a batch.
Result<int64_t> OpenInputSizes(Graph& graph, const std::map<size_t, Dims>& shapes,
                               const OpenedSizes& sizes);

}  // namespace nn
