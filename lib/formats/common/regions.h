// Subgraphs that a run chooses, as regions of graph nodes (ops/control/loop.h). An importer adds
// the operators of a subgraph to its graph, with placeholders for the inputs, and moves them into a
// region then.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/common/control_flow.h"
#include "formats/common/operator_import.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn {

// The region of a "loop" node, and the values around the loop that it uses.
struct LoopRegion {
  Graph region;
  std::vector<Value*> captured;
};

// The results of one iteration, which is added to the graph: the condition, bool[], the next
// carried values, and elements of stacks. Inputs: the number of the iteration, i64[], and the
// carried values.
using RunIterationFn = std::function<Result<std::vector<Value*>>(std::span<Value* const>)>;

// The region of a loop whose carried values have these types at first. The types must hold for all
// iterations: an iteration is added again as long as it changes a size, which is unknown from then
// on. Leaves the graph as it was. kUnsupported if an element type changes.
Result<LoopRegion> TakeLoop(Graph& graph, std::vector<UnsupportedNode>& unsupported,
                            std::vector<Type> types, const RunIterationFn& run);

// The regions of a "branch" node, which use the same captured values.
struct BranchRegions {
  std::vector<Graph> regions;
  std::vector<Value*> captured;
};

// `runs`: add the operators of a branch to the graph, which loses them again, and return its
// results.
using RunBranchFn = std::function<Result<std::vector<Value*>>()>;
Result<BranchRegions> TakeBranches(Graph& graph, std::vector<UnsupportedNode>& unsupported,
                                   std::span<const RunBranchFn> runs);

// Emits the operator as a "branch" or "loop" node with these regions. `condition` has one element;
// `trips` is null if there is no largest number of iterations. `why`: BranchAttrs, LoopAttrs.
Status EmitBranch(OperatorImport& op, Value* condition, BranchRegions branches, std::string why);
Status EmitLoop(OperatorImport& op, Value* trips, Value* condition, std::span<Value* const> carried,
                LoopRegion loop, std::string why);

}  // namespace nn
