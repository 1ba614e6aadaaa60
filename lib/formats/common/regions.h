// Subgraphs that a run chooses, as regions of graph nodes (ops/control/loop.h). An importer adds
// the operators of a subgraph to its graph, with placeholders for the inputs, and moves them into a
// region then.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/common/control_flow.h"
#include "ir/graph.h"

namespace nn {

// Values of the graph in place of the inputs of a subgraph. The destructor removes them; nothing
// may use them then.
class Placeholders {
 public:
  explicit Placeholders(Graph& graph) : graph_(graph) {}
  ~Placeholders();
  Placeholders(const Placeholders&) = delete;
  Placeholders& operator=(const Placeholders&) = delete;

  Value* Add(const Type& type);
  std::span<Value* const> values() const { return values_; }

 private:
  Graph& graph_;
  std::vector<Value*> values_;
};

// A region of the nodes that were added since the mark, which the graph loses. Its inputs are
// `inputs`, which are placeholders, and the values around the nodes that they use: those of
// `captured`, which gets more of them. Constants are copied.
Graph TakeRegion(Graph& graph, ImportMark& mark, std::span<Value* const> inputs,
                 std::span<Value* const> results, std::vector<Value*>& captured);

}  // namespace nn
