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
Status ChangeAxes(Graph& graph, const AxesOptions& options = {});

}  // namespace nn
