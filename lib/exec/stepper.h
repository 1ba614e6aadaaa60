// Computes the values of a graph one by one, in an order that the caller chooses, and keeps only
// those that are still needed. Every value has the bits that a Program computes.
// Design: docs/design/055-comparing-models.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "exec/program.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/value_table.h"

namespace nn {

// Movable, not copyable.
class Stepper {
 public:
  // Prepares the graph as Program::Compile() does: removes dead code, folds constants and checks
  // declared shapes. Errors are those of Compile(). `options.fuse` does not apply.
  static Result<Stepper> Create(Graph graph, const ProgramOptions& options);

  // The prepared graph. Inputs and outputs are those of the given one.
  const Graph& graph() const { return graph_; }

  // In the graph's order. Forgets what was computed and kept before.
  Status Start(std::vector<Tensor> inputs);
  // Keeps a value, once it is computed, until it is released as often as it was kept.
  void Keep(const Value* value) { ++uses_[value]; }
  void Release(const Value* value);
  // Computes a value, and what it depends on. Requires that it is kept or not yet computed. Errors
  // are those of Program::Run().
  Status Compute(const Value* value);
  // A constant, or a value that is computed and kept.
  const Tensor& At(const Value* value) const;

  // Bytes of the computed values that exist, without constants and inputs, and their maximum since
  // Create().
  uint64_t alive_bytes() const { return alive_; }
  uint64_t peak_bytes() const { return peak_; }

 private:
  Stepper(Graph graph, const ProgramOptions& options);

  Status RunNode(const Node& node);
  Result<std::vector<Tensor>> Evaluate(const Node& node,
                                       const std::vector<const Tensor*>& operands);

  Graph graph_;
  ProgramOptions options_;
  ValueTable<size_t> uses_;  // that are still to come
  ValueTable<Tensor> tensors_;
  ValueTable<uint8_t> done_;
  uint64_t alive_ = 0;
  uint64_t peak_ = 0;
  uint64_t work_ = 0;  // that remains
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace nn
