// dynamic_quantize: the ranges of the work items, then the bytes, with the scale that these give.
// dynamic_fake_quantize: the same for each long row; several short rows are a work item.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exec/kernels/int8/quantize.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "ops/quant/dynamic_scale.h"
#include "ops/quant/fake_quantize.h"
#include "ops/reduce/reduction.h"

namespace nn {
namespace {

// The elements of a work item.
constexpr size_t kRangeItem = 16384;

class RangeStep : public Step {
 public:
  MemoryView in;
  BufferId ranges = 0;  // a RangeF32 for each work item
  RowPieces pieces;

  size_t grid() const override { return pieces.items(); }
  void Run(const Memory& memory, size_t item) const override {
    const auto [first, end, column, n] = pieces.At(item);
    RangeF32 range;
    for (size_t r = first; r < end; ++r)
      range.Join(RangeOfF32(in.As<const float>(memory) + r * in.row_stride + column, n));
    reinterpret_cast<RangeF32*>(memory.data(ranges))[item] = range;
  }
};

// Adds the step that computes the ranges of the pieces, and returns where they are.
BufferId AddRanges(PlanContext& ctx, const MemoryView& in, const RowPieces& pieces) {
  const BufferId ranges = ctx.AddScratch(pieces.items() * sizeof(RangeF32));
  auto range = std::make_unique<RangeStep>();
  range->in = in;
  range->ranges = ranges;
  range->pieces = pieces;
  range->label = "range";
  ctx.AddStep(std::move(range), {in.buffer}, {ranges});
  return ranges;
}

// The range of `count` pieces from the first one on.
RangeF32 JoinedRange(const Memory& memory, BufferId ranges, size_t first, size_t count) {
  const auto* all = reinterpret_cast<const RangeF32*>(memory.data(ranges)) + first;
  RangeF32 range;
  for (size_t i = 0; i < count; ++i) range.Join(all[i]);
  return range;
}

class DynamicQuantizeStep : public Step {
 public:
  MemoryView in, out;
  std::optional<MemoryView> scale, zero_point;
  BufferId ranges = 0;
  RowPieces pieces;

  size_t grid() const override { return pieces.items(); }
  void Run(const Memory& memory, size_t item) const override {
    const RangeF32 range = JoinedRange(memory, ranges, 0, pieces.items());
    const DynamicScale s = DynamicScaleOf(range.low, range.high);
    if (item == 0 && scale) *scale->As<float>(memory) = s.scale;
    if (item == 0 && zero_point) *zero_point->As<uint8_t>(memory) = s.zero_point;
    const auto [first, end, column, n] = pieces.At(item);
    for (size_t r = first; r < end; ++r)
      RunDynamicQuantizeF32(s.scale, static_cast<float>(s.zero_point),
                            in.As<const float>(memory) + r * in.row_stride + column,
                            out.As<uint8_t>(memory) + r * out.row_stride + column, n);
  }
};

Result<bool> PlanDynamicQuantize(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto shape = RowShape(node.output(0));
  const size_t rows = ElementsOf(shape, 0, shape.size() - 1);
  const auto columns = static_cast<size_t>(shape.back());
  if (rows * columns == 0) return false;
  const MemoryView in = ctx.ViewOf(node.input(0));
  const MemoryView out = ctx.ViewOf(node.output(0));
  const bool dense = IsDense(in, shape) && IsDense(out, shape);
  const RowPieces pieces =
      dense ? RowPieces(1, rows * columns, kRangeItem) : RowPieces(rows, columns, kRangeItem);
  const BufferId ranges = AddRanges(ctx, in, pieces);
  auto step = std::make_unique<DynamicQuantizeStep>();
  step->in = in;
  step->out = out;
  step->ranges = ranges;
  step->pieces = pieces;
  std::vector<BufferId> writes = {out.buffer};
  const auto result = [&](size_t i) -> std::optional<MemoryView> {
    if (node.outputs().size() <= i) return std::nullopt;
    const MemoryView view = ctx.ViewOf(node.output(i));
    writes.push_back(view.buffer);
    return view;
  };
  step->scale = result(1);
  step->zero_point = result(2);
  ctx.AddStep(std::move(step), {in.buffer, ranges}, std::move(writes));
  return true;
}

class ShortRowsStep : public Step {
 public:
  MemoryView in, out;
  RowPieces rows;
  bool symmetric = true;

  size_t grid() const override { return rows.items(); }
  void Run(const Memory& memory, size_t item) const override {
    const auto [first, end, column, n] = rows.At(item);
    for (size_t r = first; r < end; ++r) {
      const float* x = in.As<const float>(memory) + r * n;
      const RangeF32 range = RangeOfF32(x, n);
      RunFakeQuantizeF32(RowGridOf(range.low, range.high, symmetric), x,
                         out.As<float>(memory) + r * n, n);
    }
  }
};

// After a RangeStep with the same pieces, each of which is a part of one row.
class LongRowsStep : public Step {
 public:
  MemoryView in, out;
  BufferId ranges = 0;
  RowPieces pieces;
  size_t pieces_of_row = 1;
  bool symmetric = true;

  size_t grid() const override { return pieces.items(); }
  void Run(const Memory& memory, size_t item) const override {
    const auto [row, end, column, n] = pieces.At(item);
    const RangeF32 range = JoinedRange(memory, ranges, row * pieces_of_row, pieces_of_row);
    const size_t at = row * pieces.columns() + column;
    RunFakeQuantizeF32(RowGridOf(range.low, range.high, symmetric), in.As<const float>(memory) + at,
                       out.As<float>(memory) + at, n);
  }
};

Result<bool> PlanDynamicFakeQuantize(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<DynamicFakeQuantizeAttrs>();
  const std::vector<int64_t> shape = ShapeOf(node.output(0));
  NN_ASSIGN(const std::vector<int> axes, ReducedAxes(a.axes, static_cast<int>(shape.size())));
  // Rows of adjacent elements: no larger axis comes after the first of the row's.
  size_t count = 1, length = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_of_row = std::ranges::find(axes, static_cast<int>(i)) != axes.end();
    if (!is_of_row && length > 1 && shape[i] != 1) return false;
    (is_of_row ? length : count) *= static_cast<size_t>(shape[i]);
  }
  if (count * length == 0) return false;
  MemoryView in = ctx.ViewOf(node.input(0));
  in.row_stride = length;
  const MemoryView out = ctx.ViewOf(node.output(0));
  const RowPieces pieces(count, length, kRangeItem);
  if (length <= kRangeItem) {
    auto step = std::make_unique<ShortRowsStep>();
    step->in = in;
    step->out = out;
    step->rows = pieces;
    step->symmetric = a.symmetric;
    ctx.AddStep(std::move(step), {in.buffer}, {out.buffer});
    return true;
  }
  const BufferId ranges = AddRanges(ctx, in, pieces);
  auto step = std::make_unique<LongRowsStep>();
  step->in = in;
  step->out = out;
  step->ranges = ranges;
  step->pieces = pieces;
  step->pieces_of_row = pieces.items() / count;
  step->symmetric = a.symmetric;
  ctx.AddStep(std::move(step), {in.buffer, ranges}, {out.buffer});
  return true;
}

}  // namespace

void AddDynamicQuantizeKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "dynamic_fake_quantize", .plan = PlanDynamicFakeQuantize});
  kernels.push_back({.op = "dynamic_quantize",
                     .plan = PlanDynamicQuantize,
                     .strided_input = true,
                     .strided_output = true});
}

}  // namespace nn
