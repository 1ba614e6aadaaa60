// The progress of one run (RunRecord::progress).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/eval.h"
#include "ir/graph.h"

namespace nn {

// Tells of steps, and of nodes and regions that the evaluation runs, which another runner may do.
class RunProgress : public NodeRunner {
 public:
  using Tell = std::function<Status(uint64_t done, uint64_t total)>;

  // The nodes of `graph` are steps, too; null: none are. All of them outlive it.
  RunProgress(const Tell& tell, uint64_t steps, const Graph* graph, NodeRunner* runner);

  // Nothing is done yet, one more step is done, all are done.
  Status Begin() const { return tell_(0, total_); }
  Status Step() { return tell_(++done_, total_); }
  Status End() const { return tell_(total_, total_); }

  std::optional<Result<std::vector<Tensor>>> RunNode(const Node& node,
                                                     std::span<const Tensor* const> inputs,
                                                     EvalBudget& budget) override;
  std::optional<Result<std::vector<Tensor>>> RunRegion(const Graph& region,
                                                       std::span<const Tensor* const> inputs,
                                                       EvalBudget& budget) override;

 private:
  const Tell& tell_;
  std::vector<const Node*> nodes_;
  size_t next_ = 0;  // the node that has not begun
  NodeRunner* runner_;
  uint64_t done_ = 0;
  uint64_t total_;
};

}  // namespace nn
