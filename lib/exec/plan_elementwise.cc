#include <algorithm>

#include "exec/kernel_table.h"
#include "exec/plan_elementwise_8bit.h"
#include "exec/tail.h"

namespace nn {
namespace {

// Elements of an item: a piece stays in the first-level cache for the whole chain.
constexpr size_t kPiece = 4096;

// A chain of elementwise operations that starts from memory. Items are blocks of whole rows, or
// pieces of long ones.
class ElementwiseStep : public Step {
 public:
  Place in, out;
  size_t in_stride = 0, out_stride = 0;  // elements between rows
  size_t rows = 0, columns = 0;
  size_t row_block = 1, column_block = 1;
  TailProgram chain;

  // Items of about kPiece elements.
  void SetItems() {
    column_block = std::clamp<size_t>(columns, 1, kPiece);
    row_block = kPiece / column_block;
  }
  size_t column_items() const { return (columns + column_block - 1) / column_block; }
  size_t grid() const override { return (rows + row_block - 1) / row_block * column_items(); }

  void Run(const Memory& memory, size_t item) const override {
    const size_t first = item / column_items() * row_block;
    const size_t column = item % column_items() * column_block;
    RowsF32 r;
    r.x = in.As<const float>(memory) + first * in_stride + column;
    r.x_stride = in_stride;
    r.y = out.As<float>(memory) + first * out_stride + column;
    r.y_stride = out_stride;
    r.count = std::min(row_block, rows - first);
    r.n = std::min(column_block, columns - column);
    chain.Run(memory, r, first, column);
  }
};

// Shapes of all that a chain reads but the values of the chain itself; whether all of it is dense.
std::vector<std::vector<int64_t>> OperandShapes(PlanContext& ctx, const Value* start,
                                                bool& all_dense) {
  std::vector<std::vector<int64_t>> shapes;
  const Value* chain = start;
  const auto add = [&](const Node& node) {
    if (node.Is("batch_norm")) shapes.push_back({ShapeOf(node.output()).back()});
    for (const Value* v : node.inputs()) {
      if (v == nullptr || v == chain || node.Is("batch_norm")) continue;
      shapes.push_back(ShapeOf(v));
      all_dense &= shapes.back().empty() ||
                   ctx.PlaceOf(v).row_stride == static_cast<size_t>(shapes.back().back());
    }
    chain = node.output();
  };
  add(ctx.node());
  for (const Node* n : ctx.group().tail) add(*n);
  return shapes;
}

Result<bool> PlanElementwise(PlanContext& ctx) {
  const Node& node = ctx.node();
  const Value* result = ctx.group().result();
  if (result->dtype() != DType::kF32) return PlanElementwise8Bit(ctx);
  const auto shape = ShapeOf(result);
  if (shape.empty()) return false;
  auto step = std::make_unique<ElementwiseStep>();
  // The chain starts with an input that has the result's shape, if there is one.
  const Value* start = node.input(0);
  if (node.inputs().size() > 1 && ShapeOf(start) != shape) start = node.input(1);
  if (ShapeOf(start) != shape) return false;
  step->in = ctx.PlaceOf(start);
  step->out = ctx.PlaceOf(result);
  const auto row = static_cast<size_t>(shape.back());
  bool dense = step->in.row_stride == row && step->out.row_stride == row;
  const auto operands = OperandShapes(ctx, start, dense);
  const AxisGroups groups(shape, operands, dense);
  if (!step->chain.Add(ctx, start, node, &groups)) return false;
  const Value* value = node.output();
  for (const Node* n : ctx.group().tail) {
    if (!step->chain.Add(ctx, value, *n, &groups)) return false;
    value = n->output();
  }
  const auto joined = groups.Join(shape);
  step->columns = static_cast<size_t>(joined.back());
  step->rows = 1;
  for (size_t i = 0; i + 1 < joined.size(); ++i) step->rows *= static_cast<size_t>(joined[i]);
  step->in_stride = dense ? step->columns : step->in.row_stride;
  step->out_stride = dense ? step->columns : step->out.row_stride;
  step->SetItems();
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
