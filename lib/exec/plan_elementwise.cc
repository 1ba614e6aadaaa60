#include <algorithm>
#include <cstring>

#include "exec/kernel_table.h"
#include "exec/kernels/elementwise.h"
#include "exec/plan_elementwise_8bit.h"
#include "exec/tail.h"

namespace nn {
namespace {

// Elements of an item: a piece stays in the first-level cache for the whole chain.
constexpr size_t kPiece = 4096;

// A chain of elementwise operations that starts from memory.
class ElementwiseStep : public Step {
 public:
  Place in, out;
  RowMap in_rows;
  size_t rows = 0, columns = 0;
  size_t row_block = 1;
  TailProgram chain;

  size_t grid() const override { return (rows + row_block - 1) / row_block; }

  void Run(const Memory& memory, size_t item) const override {
    const size_t first = item * row_block;
    const size_t count = std::min(row_block, rows - first);
    float* y = out.As<float>(memory) + first * out.row_stride;
    for (size_t r = 0; r < count; ++r) {
      const float* x = in.As<const float>(memory) + in_rows.Offset(first + r);
      float* to = y + r * out.row_stride;
      if (in_rows.scalar())
        std::fill_n(to, columns, x[0]);
      else if (x != to)
        std::memcpy(to, x, columns * sizeof(float));
    }
    chain.Run(memory, y, out.row_stride, first, count, 0, columns);
  }
};

Result<bool> PlanElementwise(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* result = ctx.group().result();
  if (result->dtype() != DType::kF32) return PlanElementwise8Bit(ctx);
  if (ShapeOf(result).empty()) return false;
  auto step = std::make_unique<ElementwiseStep>();
  // The chain starts with an input that has the result's shape, if there is one.
  const Value* start = node.input(0);
  if (node.inputs().size() > 1 && ShapeOf(start) != ShapeOf(result)) start = node.input(1);
  if (ShapeOf(start) != ShapeOf(result)) return false;
  if (!step->chain.Add(ctx, start, node)) return false;
  const Value* value = node.output();
  for (const Node* n : ctx.group().tail) {
    if (!step->chain.Add(ctx, value, *n)) return false;
    value = n->output();
  }
  const auto shape = ShapeOf(result);
  step->in = ctx.PlaceOf(start);
  step->out = ctx.PlaceOf(result);
  step->in_rows = RowMap(shape, ShapeOf(start), step->in.row_stride);
  step->columns = static_cast<size_t>(shape.back());
  step->rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) step->rows *= static_cast<size_t>(shape[i]);
  step->row_block = std::max<size_t>(1, kPiece / std::max<size_t>(step->columns, 1));
  std::vector<BufferId> reads = {step->in.buffer};
  reads.insert(reads.end(), step->chain.reads().begin(), step->chain.reads().end());
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  return true;
}

}  // namespace

void AddElementwiseKernels(std::vector<KernelInfo>& kernels) {
#define NN_ROW(name, fn) kernels.push_back({name, PlanElementwise, true, true, true, true});
  NN_UNARY_FUNCTIONS(NN_ROW)
  NN_BINARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
  kernels.push_back({"batch_norm", PlanElementwise, true, true, true, true});
}

}  // namespace nn
