// Removes redundant computation from a graph, and merges equivalent operators.
// Design: docs/design/025-simplification.md.
#pragma once

#include <span>

#include "base/status.h"
#include "ir/graph.h"
#include "rewrite/target.h"

namespace nn {

// The name of what MergeDuplicates() did in RewriteCounts.
inline constexpr std::string_view kDuplicateRewrite = "duplicate";

// All of these also go into the regions of loops and branches.
//
// Folds constants, removes dead and duplicate nodes and constants, and applies SimplifyRewrites()
// until nothing changes. All results keep their bits. Inputs and outputs keep their names and
// types. Adds what it did to `counts` unless it is null.
Status Simplify(Graph& graph, RewriteCounts* counts = nullptr);

// The part of it that keeps a graph legal for any target.
Status RemoveRedundant(Graph& graph, RewriteCounts* counts = nullptr);

// Folds constants, merges duplicates, and removes casts that others make unnecessary.
Status JoinConversions(Graph& graph);

// Replaces a node, or a constant, that is equal to an earlier one: the same operator with the same
// attributes on the same operands. Random numbers and checks stay, and so do nodes that compute
// outputs of the graph. Returns whether the graph changed.
Result<bool> MergeDuplicates(Graph& graph, RewriteCounts* counts);

// The input whose elements are the result, bit by bit and in the same shape; null if there is none,
// or it is not known. `node` has one output.
Value* IdentityOf(const Node& node);

// Rewrites that do not change the bits of any result, in the order in which they are tried: the
// first one drops identities, the second one joins casts.
std::span<const Rewrite> SimplifyRewrites();

}  // namespace nn
