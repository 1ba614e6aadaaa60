// Graph transformations for any consumer. Each keeps the graph valid; in debug builds, RunPass
// verifies it after each pass.
// Design: docs/design/010-declared-shapes.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/types/axis_map.h"

namespace nn {

// Runs a pass and, in debug builds, Verify() after it. Internal errors name the pass.
Status RunPass(std::string_view name, Graph& graph, const std::function<Status(Graph&)>& pass);

// Replaces values with known contents by constants: evaluates nodes on constants with the reference
// evaluation, so results are bit-identical to a run; materializes shapes known to inference; turns
// known inputs into attributes (OpDef::absorb_inputs). Does not create very large constants. Goes
// into regions, and resolves loops and branches that constants decide (passes/core/regions.h).
Status FoldConstants(Graph& graph);

// Removes nodes and constants that no output depends on, also in regions. Checks (OpDef::is_check)
// stay.
Status RemoveDeadCode(Graph& graph);

// Replaces symbols with numbers, in regions as well. Unlisted symbols stay. Errors are those of
// InferGraph.
Status BindSymbols(Graph& graph, const std::map<std::string, int64_t>& symbols);

// Sets the shapes of inputs for a run, by input name: binds the symbols in their types and
// re-infers all types. kUsage for an unknown input and for a shape that contradicts the model:
// wrong rank, wrong size, or two sizes for one symbol.
Status BindInputShapes(Graph& graph, const std::map<std::string, std::vector<int64_t>>& shapes);

// If a file declares a dimension of a node's result that inference cannot derive, because it
// depends on run-time contents, the declaration is an assumption.
//
// Drops these declarations, so that every type is as inferred. For exporters that store types.
// kModel if a declaration contradicts inference.
Status ForgetDeclaredShapes(Graph& graph);
// Inserts an assume_shape node, which aborts a run that violates the assumption, after each such
// value; its users see the declared shape.
Status CheckDeclaredShapes(Graph& graph);
// Assigns the checked shape to values whose only use is the check, so that memory can be planned
// for them. The code that computes them must compare the shapes (see IsChecked).
void AdoptCheckedShapes(Graph& graph);
// Whether the shape of a result of the node is such an assumption. Such nodes must be evaluated
// with EvalNode, which infers shapes from the actual inputs, not with a kernel.
bool IsChecked(const Node& node);

// Options of ChangeAxes.
struct AxesOptions {
  // Whether a node may take the new attributes when axes change: those of `changed` by `map`, and
  // those of the operands listed in `change`. Null: always.
  std::function<bool(const Node&, Operand changed, const AxisMap& map, const AxesChange& change)>
      allow;
  // Whether permutations of whole inputs and outputs will be moved out of the graph
  // (rewrite/interface_axes.h). They then cost next to nothing.
  bool moves_interface = false;
};

// Eliminates transposes and redundant unit axes: moves axis nodes through the graph wherever that
// reduces the number of elements moved, until there is no improvement. Goes into regions, and
// across their borders (passes/axes/region_axes.h). Inputs and outputs keep their shapes. Returns
// whether the graph changed.
Result<bool> ChangeAxes(Graph& graph, const AxesOptions& options = {});

}  // namespace nn
