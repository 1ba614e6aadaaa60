// Kernels for what the reference evaluation runs node by node: operators after sizes that only a
// run knows, and the bodies of loops and branches. They are planned for the shapes that they meet.
//
// Planning everything before the run is impossible where shapes are open, and planning the rest of
// a graph again whenever a size becomes known costs a plan of the whole graph for each of them. So
// each node has a plan of its own, and each region with known shapes one as a whole.
//
// Planning orders the weights anew, which takes as long as a product with a few rows. What uses its
// weights that little is planned when it meets the same shapes again: the sizes of a loop that
// collects something never come back.
//
// Design: docs/design/047-open-shapes-in-runs.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "exec/program.h"
#include "exec/runtime/planning/planned_graph.h"
#include "ir/eval.h"

namespace nn {

// The plans of a graph's nodes and regions by the shapes of their inputs. Thread-safe.
class KernelCache {
 public:
  // The limits apply to each plan.
  explicit KernelCache(const ProgramOptions& options) : options_(options) {}

  struct Planned : PlannedGraph {
    // Of the loops and branches in the graph; null if there are none.
    std::unique_ptr<KernelCache> inner;
  };
  // A plan. Null: the reference evaluation runs it.
  using Entry = std::shared_ptr<const Planned>;

  // A node of the graph, or of one of its regions. `inputs`: null where the node has none.
  Entry OfNode(const Node& node, std::span<const Tensor* const> inputs);
  Entry OfRegion(const Graph& region, std::span<const Tensor* const> inputs);
  // The region of a "loop" node if one plan runs all iterations (KeepsShapes). `inputs`: of the
  // region.
  Entry OfLoop(const Node& loop, std::span<const Tensor* const> inputs);

 private:
  // The node or region, and the dimensions of its inputs, each after its rank.
  using Key = std::pair<const void*, std::vector<int64_t>>;
  static Key KeyOf(const void* what, std::span<const Tensor* const> inputs);
  // `make` returns the graph to plan, or nullopt. `again`: the plan will be used more than once.
  template <typename Make>
  Entry Find(Key key, bool again, const Make& make);
  Entry Plan(Graph graph) const;

  struct Slot {
    Entry plan;
    bool is_final = false;  // the plan, or that there is none
  };

  ProgramOptions options_;
  std::mutex mutex_;
  std::map<Key, Slot> slots_;
  uint64_t packed_bytes_ = 0;  // of the plans in the slots
};

// Runs nodes and regions of one run with the kernels of a cache.
class KernelRunner : public NodeRunner {
 public:
  // Both outlive it.
  KernelRunner(KernelCache& cache, ThreadPool& pool) : cache_(cache), pool_(pool) {}

  std::optional<Result<std::vector<Tensor>>> RunNode(const Node& node,
                                                     std::span<const Tensor* const> inputs,
                                                     EvalBudget& budget) override;
  std::optional<Result<std::vector<Tensor>>> RunRegion(const Graph& region,
                                                       std::span<const Tensor* const> inputs,
                                                       EvalBudget& budget) override;

 private:
  std::optional<Result<std::vector<Tensor>>> Run(const KernelCache::Entry& planned,
                                                 std::span<const Tensor* const> inputs,
                                                 EvalBudget& budget);
  std::optional<Result<std::vector<Tensor>>> RunLoopNode(const Node& loop,
                                                         std::span<const Tensor* const> inputs,
                                                         EvalBudget& budget);
  std::byte* ArenaFor(const PlannedGraph& planned);
  // The runner for the regions in the plan's graph; null if there are none.
  NodeRunner* InnerOf(const KernelCache::Entry& planned);

  KernelCache& cache_;
  ThreadPool& pool_;
  Buffer arena_;
  StepError error_;
  // The last region, for inputs of these dimensions.
  const Graph* region_ = nullptr;
  std::vector<std::vector<int64_t>> region_dims_;
  KernelCache::Entry planned_region_;
  // Runners of plans with loops or branches. Each has an arena of its own.
  std::vector<std::pair<KernelCache::Entry, std::unique_ptr<KernelRunner>>> inner_;
};

}  // namespace nn
