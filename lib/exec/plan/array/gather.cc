// Slices selected by indices computed at run time. Constant indices become tables of moves
// (movement.cc).
#include <algorithm>
#include <cstring>
#include <optional>

#include "exec/plan/array/movement.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/indices.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/support/types.h"

namespace nn {
namespace {

constexpr size_t kGatherItemBytes = 65536;

// Piece (b, o, i) of the result is the piece of x at offset, in pieces, (b * outer + o) * step +
// sum over d of indices[b, i, d] * strides[d]
class GatherStep : public Step {
 public:
  struct Axis {
    int64_t size, stride;
  };
  GatherStep(PlanContext& ctx, const Value* indices_value) : indices(ctx, indices_value) {}

  Indices indices;
  MemoryView in, out;
  size_t batches = 1, outer = 1, each = 1;
  size_t step = 0;
  std::vector<Axis> axes;
  size_t rows = 1, run = 0;        // rows of a piece; bytes of a row
  size_t in_row = 0, out_row = 0;  // bytes between rows
  size_t block = 1;                // pieces per work item

  size_t grid() const override { return (batches * outer * each + block - 1) / block; }

  void Run(const Memory& memory, size_t item) const override {
    const std::byte* x = in.As<const std::byte>(memory);
    std::byte* y = out.As<std::byte>(memory);
    const size_t end = std::min(batches * outer * each, (item + 1) * block);
    for (size_t p = item * block; p < end; ++p) {
      const size_t slab = p / each;
      const auto from = slab * step + Chosen(memory, slab / outer * each + p % each);
      for (size_t r = 0; r < rows; ++r)
        CopyRow(x + (from * rows + r) * in_row, y + (p * rows + r) * out_row);
    }
  }

 private:
  // The offset, in pieces, that the indices of position i select.
  size_t Chosen(const Memory& memory, size_t i) const {
    size_t skipped = 0;
    for (size_t d = 0; d < axes.size(); ++d)
      skipped += static_cast<size_t>(indices.At(memory, i * axes.size() + d, axes[d].size) *
                                     axes[d].stride);
    return skipped;
  }
  // For small rows a copy of known size is faster.
  void CopyRow(const std::byte* from, std::byte* to) const {
    if (run == 4)
      std::memcpy(to, from, 4);
    else if (run == 8)
      std::memcpy(to, from, 8);
    else
      std::memcpy(to, from, run);
  }
};

// The offsets and sizes of pieces made of the axes of x from `first` on.
bool SetPieces(PlanContext& ctx, size_t first, GatherStep& step) {
  const Node& node = ctx.node();
  const Value* x = node.input(0);
  const Value* y = node.output();
  const auto shape = ShapeOf(x);
  const auto y_shape = ShapeOf(y);
  const auto element = static_cast<size_t>(DTypeBits(x->dtype()) / 8);
  if (DTypeBits(x->dtype()) < 8 || y->dtype() != x->dtype() || !Indices::Takes(node.input(1)))
    return false;
  step.in = ctx.ViewOf(x);
  step.out = ctx.ViewOf(y);
  const auto row = static_cast<size_t>(shape.back());
  const bool dense_out =
      y_shape.empty() || step.out.row_stride == static_cast<size_t>(y_shape.back());
  if (step.in.row_stride == row && dense_out) {
    step.run = ElementsOf(shape, first, shape.size()) * element;
    step.in_row = step.out_row = step.run;
  } else if (first < shape.size()) {
    step.rows = ElementsOf(shape, first, shape.size() - 1);
    step.run = row * element;
    step.in_row = step.in.row_stride * element;
    step.out_row = step.out.row_stride * element;
  } else {
    return false;  // single elements of strided rows
  }
  step.block = FitIn(kGatherItemBytes, step.rows * step.run);
  return true;
}

void AddGather(PlanContext& ctx, std::unique_ptr<GatherStep> step) {
  const std::vector<BufferId> reads = {step->in.buffer, step->indices.buffer()};
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), reads, {out});
}

Result<bool> PlanGather(PlanContext& ctx) {
  const Node& node = ctx.node();
  if (node.input(1)->is_constant()) {
    NN_ASSIGN(const bool moved, PlanMove(ctx));
    if (moved) return true;
  }
  const auto& a = node.attrs<GatherAttrs>();
  const auto shape = ShapeOf(node.input(0));
  const auto chosen = ShapeOf(node.input(1));
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, static_cast<int>(shape.size())));
  const auto batch = static_cast<size_t>(
      a.batch_dims < 0 ? a.batch_dims + static_cast<int64_t>(chosen.size()) : a.batch_dims);
  const auto at = static_cast<size_t>(axis);
  if (ElementsOf(shape, 0, shape.size()) == 0) return false;
  auto step = std::make_unique<GatherStep>(ctx, node.input(1));
  if (!SetPieces(ctx, at + 1, *step)) return false;
  step->batches = ElementsOf(shape, 0, batch);
  step->outer = ElementsOf(shape, batch, at);
  step->each = ElementsOf(chosen, batch, chosen.size());
  step->step = static_cast<size_t>(shape[at]);
  step->axes = {{shape[at], 1}};
  AddGather(ctx, std::move(step));
  return true;
}

Result<bool> PlanGatherNd(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto shape = ShapeOf(node.input(0));
  const auto chosen = ShapeOf(node.input(1));
  const auto batch = static_cast<size_t>(node.attrs<GatherNdAttrs>().batch_dims);
  const auto k = static_cast<size_t>(chosen.back());
  if (ElementsOf(shape, 0, shape.size()) == 0) return false;
  auto step = std::make_unique<GatherStep>(ctx, node.input(1));
  if (!SetPieces(ctx, batch + k, *step)) return false;
  step->batches = ElementsOf(shape, 0, batch);
  step->each = ElementsOf(chosen, batch, chosen.size() - 1);
  step->step = ElementsOf(shape, batch, batch + k);
  for (size_t d = batch; d < batch + k; ++d)
    step->axes.push_back({shape[d], static_cast<int64_t>(ElementsOf(shape, d + 1, batch + k))});
  AddGather(ctx, std::move(step));
  return true;
}

}  // namespace

void AddGatherKernels(std::vector<KernelInfo>& kernels) {
  for (const auto& [op, plan] :
       {std::pair("gather", &PlanGather), std::pair("gather_nd", &PlanGatherNd)})
    kernels.push_back({.op = op, .plan = plan, .strided_input = true, .strided_output = true});
}

}  // namespace nn
