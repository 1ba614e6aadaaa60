// Kernel of tree_ensemble: blocks of rows. The trees are compiled when the plan is built.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/checked_math.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "ops/reduce/forest.h"

namespace nn {
namespace {

template <typename T>
class ForestStep : public Step {
 public:
  explicit ForestStep(Forest<T> trees) : forest(std::move(trees)) {}

  Forest<T> forest;
  MemoryView in, out;
  size_t rows = 0, columns = 0, targets = 0;
  size_t block = 1;  // rows per work item

  size_t grid() const override { return CeilDiv(rows, block); }
  void Run(const Memory& memory, size_t item) const override {
    const size_t first = item * block, count = std::min(block, rows - first);
    forest.Run(in.As<const T>(memory) + first * columns, count, columns,
               out.As<T>(memory) + first * targets);
  }
};

template <typename T>
void AddForest(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<TreeEnsembleAttrs>();
  const Tensor splits = node.input(1)->constant().Aligned();
  const Tensor weights = node.input(2)->constant().Aligned();
  auto step = std::make_unique<ForestStep<T>>(Forest<T>(a, splits.As<T>(), weights.As<T>()));
  const auto shape = ShapeOf(node.input(0));
  step->rows = static_cast<size_t>(shape[0]);
  step->columns = static_cast<size_t>(shape[1]);
  step->targets = static_cast<size_t>(a.targets);
  step->in = ctx.ViewOf(node.input(0));
  step->out = ctx.ViewOf(node.output());
  step->packed_bytes = step->forest.bytes();
  // A work item has at least 16384 comparisons, and so many rows that trees are in the cache.
  const size_t work =
      static_cast<size_t>(CheckTrees(a).value_or(ForestDepth()).sum) + a.roots.size();
  step->block =
      std::max(FitIn(16384, work), std::min<size_t>(128, CeilDiv(step->rows, size_t{16})));
  const BufferId in = step->in.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
}

Result<bool> PlanTreeEnsemble(PlanContext& ctx) {
  const Node& node = ctx.node();
  if (!node.input(1)->is_constant() || !node.input(2)->is_constant()) return false;
  switch (node.input(0)->dtype()) {
    case DType::kF32:
      AddForest<float>(ctx);
      return true;
    case DType::kF64:
      AddForest<double>(ctx);
      return true;
    default:
      return false;
  }
}

}  // namespace

void AddTreeEnsembleKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "tree_ensemble", .plan = PlanTreeEnsemble});
}

}  // namespace nn
