// Loops and branches (ops/control/loop.h) in FoldConstants and RemoveDeadCode
// (passes/core/passes.h).
#pragma once

#include <cstddef>
#include <functional>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Removes operand i of a node; later ones move up.
void RemoveOperand(Graph& graph, Node& node, size_t i);

// Removes redundant computation of a node with regions: results without uses, carried values that
// only lead to themselves, dead nodes in regions, and operands that no region uses or that are
// captured twice. One result stays.
Status TrimRegions(Graph& graph, Node& node);

// Whether a region has a check, so that the node must stay.
bool HasCheck(const Node& node);

// Folds constants of a region.
using FoldRegionFn = std::function<Status(Graph&)>;

// FoldConstants for a node with regions:
// - Captured constants become constants of the regions, which are folded, unless that fails: a run
//   may not execute them.
// - A carried value that no iteration changes is captured.
// - A branch with a constant condition is replaced by the nodes of its region.
// - A loop whose condition depends on constants and the number of the iteration alone gets a trip
//   count instead.
// - A loop with no or one iteration is replaced by the nodes of its region. One with more is
//   unrolled if the graph does not get more nodes by that: the nodes that the iterations and their
//   stacks add are not more than those of the region and the loop. Nodes that depend on constants
//   and the number of the iteration alone do not count, because they are folded.
// Returns whether nodes have replaced it, which are before its place and are not folded yet.
Result<bool> FoldRegions(Graph& graph, Node& node, const FoldRegionFn& fold);

}  // namespace nn
