// For targets without tensors of rank 0. Part of Legalize.
// Design: docs/design/008-scalars-as-vectors.md.
#pragma once

#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "rewrite/legalize.h"

namespace nn {

// Turns computed values of rank 0, and inputs and outputs of the graph, into vectors of one
// element. A value stays as it is if its operator cannot have such a result, and an operator that
// needs a scalar gets one (squeeze).
Status ScalarsAsVectors(Graph& graph);

// Whether the inputs and outputs of the node's regions stay as they are, since a run decides
// whether a result is a scalar: its rank is not known.
bool RegionsKeepScalars(const Node& node);

// The same for inputs and outputs alone.
Status ScalarPortsAsVectors(Graph& graph);

// Which inputs and outputs are scalars, by position.
struct ScalarPorts {
  explicit ScalarPorts(const Graph& graph);

  // Records in the maps of the ports those that have become vectors.
  void NoteVectors(const Graph& graph, InterfaceAxes& interface) const;

  std::vector<bool> inputs;
  std::vector<bool> outputs;
};

}  // namespace nn
