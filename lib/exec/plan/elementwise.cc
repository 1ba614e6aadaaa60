#include <unistd.h>

#include <algorithm>
#include <array>

#include "exec/plan/array/rows.h"
#include "exec/plan/families.h"
#include "exec/plan/norm.h"
#include "exec/plan/quant/elementwise_8bit.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "exec/steps/post_ops.h"
#include "ops/nn/norm.h"

namespace nn {
namespace {

// Elements per work item: a piece stays in the L1 cache for the whole chain.
constexpr size_t kChainElements = 4096;

// The size of the largest cache in bytes.
size_t LargestCache() {
  static const size_t bytes = [] {
    constexpr long kUnknown = 32 << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
    const long l3 = 0;
#endif
    return static_cast<size_t>(l3 > 0 ? l3 : kUnknown);
  }();
  return bytes;
}

// Copies rows of `length` elements, `stride` apart in memory, to a dense piece of `n` elements that
// starts at element `first`, and back.
void GatherRows(const float* rows, size_t length, size_t stride, size_t first, size_t n,
                float* to) {
  for (size_t r = first / length; r < (first + n) / length; ++r)
    for (size_t i = 0; i < length; ++i) *to++ = rows[r * stride + i];
}
void ScatterRows(const float* from, size_t first, size_t n, float* rows, size_t length,
                 size_t stride) {
  for (size_t r = first / length; r < (first + n) / length; ++r)
    for (size_t i = 0; i < length; ++i) rows[r * stride + i] = *from++;
}

// A chain of elementwise operations that starts from memory. Work items are blocks of whole rows,
// or pieces of long ones.
class ElementwiseStep : public Step {
 public:
  MemoryView in, out;
  size_t in_stride = 0, out_stride = 0;  // elements between rows
  RowPieces pieces;
  // Short strided rows are copied to dense pieces of this many elements; 0: not copied.
  size_t gathered = 0;
  bool streams = false;  // as in RowsF32
  PostOpProgram chain;

  size_t grid() const override { return pieces.items(); }

  void Run(const Memory& memory, size_t item) const override {
    const auto [first, end, column, columns] = pieces.At(item);
    const float* x = in.As<const float>(memory);
    float* y = out.As<float>(memory);
    RowsF32 r;
    r.count = end - first;
    r.n = columns;
    r.x_stride = in_stride;
    r.y_stride = out_stride;
    if (gathered == 0) {
      r.x = x + first * in_stride + column;
      r.y = y + first * out_stride + column;
      r.streams = streams;
      chain.Run(memory, r, first, column);
      return;
    }
    std::array<float, kChainElements> piece;
    const size_t begin = first * pieces.columns() + column;
    const size_t n = r.count * r.n;
    GatherRows(x, gathered, in.row_stride, begin, n, piece.data());
    r.x = r.y = piece.data();
    chain.Run(memory, r, first, column);
    ScatterRows(piece.data(), begin, n, y, gathered, out.row_stride);
  }
};

// Collects the shapes of all operands of a chain from outside it; returns whether all are dense.
std::vector<std::vector<int64_t>> OperandShapes(PlanContext& ctx, const Value* start,
                                                bool& all_dense) {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<const Value*> chain = {start};
  const auto add = [&](const Node& node) {
    if (node.Is<BatchNormAttrs>()) shapes.push_back({ShapeOf(node.output()).back()});
    for (const Value* v : node.inputs()) {
      if (v == nullptr || node.Is<BatchNormAttrs>()) continue;
      if (std::find(chain.begin(), chain.end(), v) != chain.end()) continue;
      shapes.push_back(ShapeOf(v));
      all_dense &= IsDense(ctx.ViewOf(v), shapes.back());
    }
    chain.push_back(node.output());
  };
  add(ctx.node());
  for (const Node* n : ctx.group().post_ops) add(*n);
  return shapes;
}

Result<bool> PlanElementwise(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* result = ctx.group().result();
  if (result->dtype() != DType::kF32) {
    NN_ASSIGN(const bool planned, PlanElementwise8Bit(ctx));
    if (planned) return true;
    return PlanRows(ctx);
  }
  const auto shape = ShapeOf(result);
  auto step = std::make_unique<ElementwiseStep>();
  // The chain starts with an input of the result's shape, if there is one.
  const Value* start = node.input(0);
  if (node.inputs().size() > 1 && ShapeOf(start) != shape) start = node.input(1);
  if (ShapeOf(start) != shape) return false;
  step->in = ctx.ViewOf(start);
  step->out = ctx.ViewOf(result);
  constexpr size_t kShortRow = 32;
  const size_t row = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  bool dense_operands = true;
  const auto operands = OperandShapes(ctx, start, dense_operands);
  const bool dense = step->in.row_stride == row && step->out.row_stride == row;
  if (!dense && dense_operands && row < kShortRow) step->gathered = row;
  const bool joins = dense_operands && (dense || step->gathered != 0);
  const AxisGroups groups(shape, operands, joins);
  if (!step->chain.Add(ctx, start, node, &groups) || !step->chain.AddPostOps(ctx, &groups))
    return false;
  const auto joined = groups.Join(shape);
  const bool is_scalar = joined.empty();
  const size_t columns = is_scalar ? 1 : static_cast<size_t>(joined.back());
  const size_t rows = is_scalar ? 1 : ElementsOf(joined, 0, joined.size() - 1);
  step->in_stride = joins ? columns : step->in.row_stride;
  step->out_stride = joins ? columns : step->out.row_stride;
  step->streams = step->gathered == 0 && step->chain.single() &&
                  rows * columns * sizeof(float) > LargestCache();
  // Streamed results are not read again from a cache, and each work item waits for its stores.
  constexpr size_t kStreamPiece = 1 << 18;
  step->pieces =
      RowPieces(rows, columns,
                step->streams         ? kStreamPiece
                : step->gathered == 0 ? kChainElements
                                      : kChainElements / step->gathered * step->gathered);
  std::vector<BufferId> reads = {step->in.buffer};
  reads.insert(reads.end(), step->chain.reads().begin(), step->chain.reads().end());
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  return true;
}

Result<bool> PlanBatchNorm(PlanContext& ctx) {
  return BatchNormFactors(ctx.node()) ? PlanElementwise(ctx) : PlanComputedBatchNorm(ctx);
}

}  // namespace

void AddElementwiseKernels(std::vector<KernelInfo>& kernels) {
#define NN_ROW(name, fn) kernels.push_back({name, PlanElementwise, true, true, true, true, true});
  NN_UNARY_FUNCTIONS(NN_ROW)
  NN_BINARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
  kernels.push_back({"batch_norm", PlanBatchNorm, true, true, true, true, true});
}

}  // namespace nn
