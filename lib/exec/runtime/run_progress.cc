#include "exec/runtime/run_progress.h"

namespace nn {

RunProgress::RunProgress(const Tell& tell, uint64_t steps, const Graph* graph, NodeRunner* runner)
    : tell_(tell), runner_(runner) {
  if (graph != nullptr)
    for (const Node& n : graph->nodes()) nodes_.push_back(&n);
  total_ = steps + nodes_.size();
}

std::optional<Result<std::vector<Tensor>>> RunProgress::RunNode(
    const Node& node, std::span<const Tensor* const> inputs, EvalBudget& budget) {
  // The nodes before it are done.
  const bool is_next = next_ < nodes_.size() && nodes_[next_] == &node;
  if (is_next && next_++ > 0) ++done_;
  if (auto told = tell_(done_, total_); !told) return tl::unexpected(told.error());
  return runner_ == nullptr ? std::nullopt : runner_->RunNode(node, inputs, budget);
}

std::optional<Result<std::vector<Tensor>>> RunProgress::RunRegion(
    const Graph& region, std::span<const Tensor* const> inputs, EvalBudget& budget) {
  if (auto told = tell_(done_, total_); !told) return tl::unexpected(told.error());
  return runner_ == nullptr ? std::nullopt : runner_->RunRegion(region, inputs, budget);
}

}  // namespace nn
