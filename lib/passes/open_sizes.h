// Sizes that a model fixes become symbols. Part of the edits of sizes (passes/edits.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/dim.h"
#include "ir/graph.h"

namespace nn {

// The shape to which a reshape from `old_in` to `old_out` reshapes `in`, which has other sizes:
// axes that it keeps, merges or splits do so as before. nullopt if that cannot be told. `inner` are
// sizes of merged axes whose last factor is new, such as 197 N; others have it first. Adds those
// that the reshape makes.
std::optional<Dims> RefitDims(const Dims& old_in, const Dims& old_out, const Dims& in,
                              std::vector<Dim>& inner);

struct OpenedSizes {
  std::map<std::string, int64_t> old;  // of the new symbols
  std::set<std::string> batch;         // those of them that are a batch
};

struct OpenedNodes {
  int64_t rewritten = 0;
  std::string joint;  // the first node whose results join the samples of a batch; empty: none
};

// Sets the shapes of inputs, by position, in which the new symbols take the place of numbers, and
// makes the graph follow. kUnsupported with the name of the node that fixes a size.
Result<OpenedNodes> OpenInputSizes(Graph& graph, const std::map<size_t, Dims>& shapes,
                                   const OpenedSizes& sizes);

}  // namespace nn
