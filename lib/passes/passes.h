// Graph transformations that any consumer may want. Each keeps the graph valid; RunPass verifies it
// after each in debug builds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/axis_map.h"
#include "ir/graph.h"
#include "ir/op_def.h"

namespace nn {

// Runs a pass, and in debug builds Verify() after it; errors name the pass.
Status RunPass(std::string_view name, Graph& graph, const std::function<Status(Graph&)>& pass);

// Replaces values whose contents are known by constants: nodes on constants are evaluated (by the
// reference evaluation, so the bits are those of a run), shapes that inference knows are written
// down, known inputs become attributes (OpDef::absorb_inputs).
Status FoldConstants(Graph& graph);

// Removes nodes and constants that no output depends on.
Status RemoveDeadCode(Graph& graph);

// Gives symbols numbers. Symbols that stay unbound are left.
Status BindSymbols(Graph& graph, const std::map<std::string, int64_t>& symbols);

// Gives inputs the shapes they will have in a run, by input name: binds the symbols in their types
// and refines every type. kUsage if a shape contradicts the model: wrong rank, another size, or two
// sizes for one symbol.
Status BindInputShapes(Graph& graph, const std::map<std::string, std::vector<int64_t>>& shapes);

// A dimension of a node's result that a file declares and inference cannot derive, because it
// depends on contents that only a run has, is an assumption.
//
// Drops these: every type is then what inference derives. For whoever writes types down. kModel if
// a declaration contradicts inference.
Status ForgetDeclaredShapes(Graph& graph);
// Places an assume_shape node, which ends a run that breaks the assumption, behind each value that
// has one; its users see the declared shape.
Status CheckDeclaredShapes(Graph& graph);
// Gives the values that are checked and not used otherwise the shape that their users see, so that
// they can be planned. Whoever computes them must compare (see IsChecked).
void AdoptCheckedShapes(Graph& graph);
// Whether the shape of one of the node's results is such an assumption. No kernel computes the
// node: EvalNode does, which takes shapes from the inputs at hand.
bool IsChecked(const Node& node);

// Shapes that change_axes may not give to nodes, and the like.
struct AxesOptions {
  // Whether a node may take new attributes when the axes of its values change: those of `changed`
  // by `map`, and the others that `change` names. Null: always.
  std::function<bool(const Node&, Operand changed, const AxisMap& map, const AxesChange& change)>
      allow;
};

// Removes transposes and axes of size 1 that come and go: moves every rearrangement of axes through
// the nodes around it wherever that lowers the number of elements moved, until nothing improves.
// Inputs and outputs keep their shapes.
Result<bool> ChangeAxes(Graph& graph, const AxesOptions& options = {});

}  // namespace nn
