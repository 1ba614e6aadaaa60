// Scalar reference evaluation of single nodes: the normative semantics of every operator.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

struct EvalBudget;

// Runs nodes in place of the reference evaluation, with the same results. Null options are left to
// it.
class NodeRunner {
 public:
  virtual ~NodeRunner() = default;
  // Inputs and results as for EvalNode() and EvalGraph(). Take from the budget, as these do.
  virtual std::optional<Result<std::vector<Tensor>>> RunNode(const Node& node,
                                                             std::span<const Tensor* const> inputs,
                                                             EvalBudget& budget) = 0;
  virtual std::optional<Result<std::vector<Tensor>>> RunRegion(
      const Graph& region, std::span<const Tensor* const> inputs, EvalBudget& budget) = 0;
};

// The resources that remain for a run.
struct EvalBudget {
  uint64_t bytes = std::numeric_limits<uint64_t>::max();       // for the outputs of a node
  uint64_t work = std::numeric_limits<uint64_t>::max();        // see WorkOf
  uint64_t iterations = std::numeric_limits<uint64_t>::max();  // of loops
  // For the nodes of graphs, and for regions; null: all are evaluated. Not owned.
  NodeRunner* runner = nullptr;

  // Takes an iteration; kLimit if none is left.
  Status TakeIteration();
  // Takes the work and the iterations that `left`, a copy, has spent. Memory is free again.
  void Spend(const EvalBudget& left);
};

// Bytes of a tensor of this type, without the text of strings: 0 if its shape is unknown, the
// maximum value on overflow.
uint64_t BytesOf(const Type& type);

// An upper bound of the bytes of output i of a node whose inputs have known shapes; the maximum
// value on overflow. An output whose shape inference cannot tell even from the contents of the
// inputs (of non_zero, compress, unique) has at most as many elements as the inputs, times their
// rank.
uint64_t MostBytesOf(const Node& node, size_t i);

// Number of element operations of a node: its multiply-adds, but at least one for each element of
// its non-constant inputs and its outputs. The maximum value on overflow; nullopt if shapes are
// unknown.
std::optional<uint64_t> WorkOf(const Node& node);

// Evaluates one node on the given inputs (null if absent). Shapes are inferred from these inputs,
// including their contents; the declared output types are checked against them but never relied on,
// before allocation if inference can tell. kUnsupported if the operator has no reference
// evaluation; kModel if an output does not match its type; kLimit, before anything is computed, if
// the budget is exceeded. The node's work is subtracted from the budget.
Result<std::vector<Tensor>> EvalNode(const Node& node, const std::vector<const Tensor*>& inputs,
                                     EvalBudget* budget = nullptr);

// Evaluates a graph node by node. `budget.bytes` is for all values that exist at the same time,
// except the inputs. The loops of a region take their iterations from one budget; each loop of a
// whole graph has its own, as in a plan. Errors are those of EvalNode.
Result<std::vector<Tensor>> EvalGraph(const Graph& graph, std::span<const Tensor* const> inputs,
                                      EvalBudget& budget, bool is_region);

}  // namespace nn
