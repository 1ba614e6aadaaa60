// Normalisation of float32: rows of neighbouring elements, columns, and groups of columns.
#include <algorithm>
#include <array>
#include <optional>

#include "exec/kernel_table.h"
#include "exec/kernels/elementwise.h"
#include "exec/kernels/norm.h"
#include "exec/kernels/transpose.h"
#include "exec/plan_norm.h"
#include "exec/row_plan.h"
#include "exec/tail.h"
#include "ops/norm.h"
#include "ops/reduction.h"
#include "ops/types.h"

namespace nn {
namespace {

// Elements of a piece that stays in the first-level cache from one pass to the next.
constexpr size_t kPiece = 4096;

size_t Product(const std::vector<int64_t>& shape, size_t begin, size_t end) {
  size_t n = 1;
  for (size_t i = begin; i < end; ++i) n *= static_cast<size_t>(shape[i]);
  return n;
}

// What every normalisation has.
class NormStep : public Step {
 public:
  Place in, out;
  NormRule rule;
  NormResult result = NormResult::kTimes;
  TailProgram tail;
};

// ---- Rows of neighbouring elements

// A scale or bias that broadcasts to the tensor.
struct RowOperand {
  Place place;
  RowMap rows;         // its rows for those of the tensor
  bool fixed = false;  // the same elements for every row that is normalised
  bool one = false;    // one element for all of them
};

// An item is a few rows of n elements, each `lines` rows of the tensor of `columns` elements.
class RowNormStep : public NormStep {
 public:
  size_t rows = 0, n = 0, lines = 1, columns = 0;
  std::optional<RowOperand> scale, bias;
  std::optional<Place> mean_out, factor_out;

  size_t grid() const override { return (rows + row_block() - 1) / row_block(); }

  void Run(const Memory& memory, size_t item) const override {
    const size_t end = std::min(rows, (item + 1) * row_block());
    const size_t together =
        std::clamp<size_t>(kPiece / std::max<size_t>(1, n) / 4 * 4, 1, kTogether);
    for (size_t r = item * row_block(); r < end; r += together)
      RunRows(memory, r, std::min(together, end - r));
  }

 private:
  static constexpr size_t kTogether = 32;

  size_t row_block() const { return std::max<size_t>(1, 2 * kPiece / std::max<size_t>(1, n)); }

  void RunRows(const Memory& memory, size_t first, size_t count) const {
    std::array<float, kTogether> shift;
    std::array<float, kTogether> factor;
    const Lines x = LinesOf(memory, first, count);
    NormRowStatisticsF32(rule, x.data, lines * x.stride, count, n, shift.data(), factor.data());
    if (mean_out) std::copy_n(shift.data(), count, mean_out->As<float>(memory) + first);
    if (factor_out) std::copy_n(factor.data(), count, factor_out->As<float>(memory) + first);
    if (n == 0) return;
    float* y = out.As<float>(memory) + first * lines * out.row_stride;
    const bool fixed = (!scale || scale->fixed) && (!bias || bias->fixed);
    if (fixed && (lines == 1 || out.row_stride == columns)) {
      Normalise(memory, first * lines,
                {x.data, lines * x.stride, y, lines * out.row_stride, count, n}, shift.data(),
                factor.data());
    } else {
      for (size_t i = 0; i < count * lines; ++i)
        Normalise(memory, first * lines + i,
                  {x.data + i * x.stride, 0, y + i * out.row_stride, 0, 1, columns},
                  &shift[i / lines], &factor[i / lines]);
    }
    tail.Run(memory, y, out.row_stride, first * lines, count * lines, 0, columns);
  }

  // Rows of the tensor; where one has several lines, these are neighbours.
  struct Lines {
    const float* data;
    size_t stride;
  };
  Lines LinesOf(const Memory& memory, size_t first, size_t count) const {
    const float* x = in.As<const float>(memory) + first * lines * in.row_stride;
    if (lines == 1 || in.row_stride == columns) return {x, in.row_stride};
    thread_local std::vector<float> room;
    room.resize(count * n);
    for (size_t i = 0; i < count * lines; ++i)
      std::copy_n(x + i * in.row_stride, columns, room.data() + i * columns);
    return {room.data(), columns};
  }

  // The block begins with row `row` of the tensor.
  void Normalise(const Memory& memory, size_t row, const NormBlock& block, const float* shift,
                 const float* factor) const {
    static constexpr float kOne = 1.0f;
    const auto at = [&](const std::optional<RowOperand>& o) {
      return o ? o->place.As<const float>(memory) + o->rows.Offset(row) : &kOne;
    };
    NormaliseRowsF32(result, block, shift, factor, at(scale), !scale || scale->one, at(bias),
                     !bias || bias->one);
  }
};

// ---- Columns

// An item is a block of the columns of a row; blocks are whole cache lines but for the last, which
// takes what is left over.
class ColumnNormStep : public NormStep {
 public:
  std::vector<int64_t> in_starts, in_offsets;  // as in RowPlan
  std::vector<int64_t> out_starts, out_offsets;
  size_t columns = 0;
  std::optional<Place> scale, bias;  // an element a column

  void ChooseBlocks() {
    while (column_block > 16 && in_starts.size() * (columns / column_block) < 16) column_block /= 2;
    blocks = columns == 0 ? 0 : std::max<size_t>(1, columns / column_block);
    for (size_t i = 0; i < in_offsets.size(); ++i)
      regular &= in_offsets[i] == static_cast<int64_t>(i) * StepOf(in_offsets) &&
                 out_offsets[i] == static_cast<int64_t>(i) * StepOf(out_offsets);
  }
  size_t grid() const override { return in_offsets.empty() ? 0 : in_starts.size() * blocks; }

  void Run(const Memory& memory, size_t item) const override {
    const size_t row = item / blocks;
    const size_t column = item % blocks * column_block;
    const size_t n = item % blocks + 1 == blocks ? columns - column : column_block;
    std::array<float, 2 * kColumns> shift;
    std::array<float, 2 * kColumns> factor;
    const float* x = in.As<const float>(memory) + static_cast<size_t>(in_starts[row]) + column;
    NormColumnStatisticsF32(rule, x, in_offsets.data(), in_offsets.size(), n, shift.data(),
                            factor.data());
    const size_t lines = in_offsets.size();
    const size_t together = regular ? std::max<size_t>(1, kPiece / n) : 1;
    for (size_t i = 0; i < lines; i += together) {
      const auto to = static_cast<size_t>(out_starts[row] + out_offsets[i]);
      NormBlock block;
      block.x = x + in_offsets[i];
      block.x_stride = static_cast<size_t>(StepOf(in_offsets));
      block.y = out.As<float>(memory) + to + column;
      block.y_stride = static_cast<size_t>(StepOf(out_offsets));
      block.rows = std::min(together, lines - i);
      block.columns = n;
      NormaliseColumnsF32(result, block, shift.data(), factor.data(), At(memory, scale, column),
                          At(memory, bias, column));
      RunTail(memory, block, to, column);
    }
  }

 private:
  static constexpr size_t kColumns = 64;

  static int64_t StepOf(const std::vector<int64_t>& offsets) {
    return offsets.size() < 2 ? 0 : offsets[1];
  }
  static const float* At(const Memory& memory, const std::optional<Place>& place, size_t column) {
    return place ? place->As<const float>(memory) + column : nullptr;
  }
  // `to` is where the block's first row begins.
  void RunTail(const Memory& memory, const NormBlock& block, size_t to, size_t column) const {
    if (tail.empty()) return;
    const size_t first = to / out.row_stride;
    const size_t step = block.y_stride / out.row_stride;
    if (step <= 1) {
      tail.Run(memory, block.y, block.y_stride, first, block.rows, column, block.columns);
      return;
    }
    for (size_t r = 0; r < block.rows; ++r)
      tail.Run(memory, block.y + r * block.y_stride, 0, first + r * step, 1, column, block.columns);
  }

  size_t column_block = kColumns, blocks = 0;
  bool regular = true;
};

// ---- Groups of columns

// Rows are (batch, group); their elements go by column of the group, then by line. An item is a few
// neighbouring groups, whose columns are transposed for the statistics.
class GroupNormStep : public NormStep {
 public:
  size_t batch = 0, lines = 0, groups = 1, per_group = 1;
  std::optional<Place> scale, bias;
  bool scale_by_group = false, bias_by_group = false;

  size_t grid() const override {
    return lines * per_group == 0 ? 0 : batch * CeilDiv(groups, group_block());
  }

  void Run(const Memory& memory, size_t item) const override {
    const size_t blocks = CeilDiv(groups, group_block());
    const size_t first = item % blocks * group_block();
    const size_t count = std::min(group_block(), groups - first);
    const size_t columns = count * per_group;
    const size_t column = first * per_group;
    const size_t row = item / blocks * lines;
    thread_local std::vector<float> room;
    room.resize(columns * (lines + 4) + 2 * count);
    float* transposed = room.data();
    float* shift = transposed + columns * lines;
    float* factor = shift + columns;
    float* const scales = factor + columns;
    float* const biases = scales + columns;
    float* const group_shift = biases + columns;
    float* const group_factor = group_shift + count;
    const float* x = in.As<const float>(memory) + row * in.row_stride + column;
    TransposeMatrix(reinterpret_cast<const std::byte*>(x), in.row_stride,
                    reinterpret_cast<std::byte*>(transposed), lines, lines, columns, sizeof(float));
    NormRowStatisticsF32(rule, transposed, per_group * lines, count, per_group * lines, group_shift,
                         group_factor);
    for (size_t c = 0; c < columns; ++c) {
      shift[c] = group_shift[c / per_group];
      factor[c] = group_factor[c / per_group];
    }
    Gather(memory, scale, scale_by_group, column, columns, scales);
    Gather(memory, bias, bias_by_group, column, columns, biases);
    const size_t together = std::max<size_t>(1, kPiece / columns);
    for (size_t i = 0; i < lines; i += together) {
      NormBlock block;
      block.x = x + i * in.row_stride;
      block.x_stride = in.row_stride;
      block.y = out.As<float>(memory) + (row + i) * out.row_stride + column;
      block.y_stride = out.row_stride;
      block.rows = std::min(together, lines - i);
      block.columns = columns;
      NormaliseColumnsF32(result, block, shift, factor, scales, biases);
      tail.Run(memory, block.y, out.row_stride, row + i, block.rows, column, columns);
    }
  }

 private:
  static size_t CeilDiv(size_t a, size_t b) { return (a + b - 1) / b; }
  // Whole cache lines, if a group has less.
  size_t group_block() const { return std::max<size_t>(1, 16 / std::max<size_t>(1, per_group)); }

  void Gather(const Memory& memory, const std::optional<Place>& from, bool by_group, size_t column,
              size_t columns, float* to) const {
    if (!from) return;
    const float* f = from->As<const float>(memory);
    for (size_t c = 0; c < columns; ++c)
      to[c] = f[by_group ? (column + c) / per_group : column + c];
  }
};

// ---- Local response normalisation

class LrnStep : public NormStep {
 public:
  size_t rows = 0, columns = 0;
  LrnWindow window;

  size_t grid() const override { return columns == 0 ? 0 : (rows + row_block() - 1) / row_block(); }
  void Run(const Memory& memory, size_t item) const override {
    const size_t first = item * row_block();
    thread_local std::vector<float> squares;
    squares.resize(window.before + window.after + columns + 16);
    NormBlock block;
    block.x = in.As<const float>(memory) + first * in.row_stride;
    block.x_stride = in.row_stride;
    block.y = out.As<float>(memory) + first * out.row_stride;
    block.y_stride = out.row_stride;
    block.rows = std::min(row_block(), rows - first);
    block.columns = columns;
    LrnRowsF32(window, block, squares.data());
    tail.Run(memory, block.y, out.row_stride, first, block.rows, 0, columns);
  }

 private:
  size_t row_block() const { return std::max<size_t>(1, kPiece / std::max<size_t>(1, columns)); }
};

// ---- batch_norm by operands that are not constant

// scale and shift of every channel, one after the other.
class FactorsStep : public Step {
 public:
  std::array<Place, 4> operands;  // scale, bias, mean, variance
  float epsilon = 0.0f;
  size_t channels = 0;
  BufferId out = 0;

  size_t grid() const override { return 1; }
  void Run(const Memory& memory, size_t) const override {
    float* y = Place{out, 0, 0}.As<float>(memory);
    const auto at = [&](size_t i, size_t c) { return operands[i].As<const float>(memory)[c]; };
    for (size_t c = 0; c < channels; ++c) {
      const ScaleShift f = BatchNormFactor(at(0, c), at(1, c), at(2, c), at(3, c), epsilon);
      y[c] = f.scale;
      y[channels + c] = f.shift;
    }
  }
};

class ScaleShiftStep : public NormStep {
 public:
  size_t rows = 0, columns = 0;
  BufferId factors = 0;

  size_t grid() const override { return (rows + row_block() - 1) / row_block(); }
  void Run(const Memory& memory, size_t item) const override {
    const size_t first = item * row_block();
    const size_t count = std::min(row_block(), rows - first);
    const float* f = Place{factors, 0, 0}.As<const float>(memory);
    float* y = out.As<float>(memory) + first * out.row_stride;
    for (size_t r = 0; r < count; ++r)
      RunMulAddF32(in.As<const float>(memory) + (first + r) * in.row_stride, f, f + columns,
                   y + r * out.row_stride, columns);
    tail.Run(memory, y, out.row_stride, first, count, 0, columns);
  }

 private:
  size_t row_block() const { return std::max<size_t>(1, kPiece / std::max<size_t>(1, columns)); }
};

// ---- Planning

bool AllF32(const Node& node) {
  return std::all_of(node.inputs().begin(), node.inputs().end(),
                     [](const Value* v) { return v == nullptr || v->dtype() == DType::kF32; });
}

bool Dense(const Place& place, const std::vector<int64_t>& shape) {
  return shape.empty() || place.row_stride == static_cast<size_t>(shape.back());
}

// Sets what all steps have; false if the tail has no kernel. The node's first input and the group's
// result have the same shape.
bool Prepare(PlanContext& ctx, NormStep& step) {
  const Value* value = ctx.node().output();
  for (const Node* n : ctx.group().tail) {
    if (!step.tail.Add(ctx, value, *n)) return false;
    value = n->output();
  }
  step.in = ctx.PlaceOf(ctx.node().input(0));
  step.out = ctx.PlaceOf(ctx.group().result());
  return true;
}

// The step reads the node's inputs and writes the result and the node's other outputs.
void Finish(PlanContext& ctx, std::unique_ptr<NormStep> step) {
  const Node& node = ctx.node();
  std::vector<BufferId> reads = step->tail.reads();
  for (const Value* v : node.inputs())
    if (v != nullptr) reads.push_back(ctx.PlaceOf(v).buffer);
  std::vector<BufferId> writes = {step->out.buffer};
  for (size_t i = 1; i < node.outputs().size(); ++i)
    writes.push_back(ctx.PlaceOf(node.output(i)).buffer);
  ctx.AddStep(std::move(step), std::move(reads), std::move(writes));
}

NormRule MomentsRule(float epsilon) {
  NormRule rule;
  rule.centred = true;
  rule.mean = true;
  rule.epsilon = epsilon;
  rule.inverse = true;
  return rule;
}

NormRule::Root RootOf(EpsilonRule rule) {
  return rule == EpsilonRule::kInside    ? NormRule::Root::kInside
         : rule == EpsilonRule::kOutside ? NormRule::Root::kOutside
                                         : NormRule::Root::kFloor;
}

// The shape of a tensor in which a scalar is a row of one element.
std::vector<int64_t> RowShape(const Value* x) {
  auto shape = ShapeOf(x);
  if (shape.empty()) shape.push_back(1);
  return shape;
}

// Rows are the axes from `axis` on.
void SetRows(RowNormStep& step, const std::vector<int64_t>& shape, size_t axis) {
  step.rows = Product(shape, 0, axis);
  step.n = Product(shape, axis, shape.size());
  step.lines = Product(shape, axis, shape.size() - 1);
  step.columns = static_cast<size_t>(shape.back());
}

RowOperand OperandOf(PlanContext& ctx, const Value* operand, const std::vector<int64_t>& shape,
                     size_t n) {
  RowOperand o;
  const auto dims = ShapeOf(operand);
  o.place = ctx.PlaceOf(operand);
  o.rows = RowMap(shape, dims, o.place.row_stride);
  const size_t elements = Product(dims, 0, dims.size());
  o.fixed = elements == 1;
  o.one = elements == 1 || o.rows.scalar();
  if (elements == n && Dense(o.place, dims)) {
    // Its elements are those of a row if all axes before the row's are of size 1.
    size_t row = 1;
    for (size_t k = 0; k < dims.size() && row != n; ++k) {
      const auto size = static_cast<size_t>(dims[dims.size() - 1 - k]);
      if (size != static_cast<size_t>(shape[shape.size() - 1 - k])) break;
      row *= size;
    }
    o.fixed |= row == n;
  }
  return o;
}

Result<bool> PlanTrailing(PlanContext& ctx, int64_t axis, const NormRule& rule) {
  const Node& node = ctx.node();
  if (!AllF32(node)) return false;
  const auto shape = ShapeOf(node.input(0));
  NN_ASSIGN(const int first, NormalizeAxis(axis, static_cast<int>(shape.size())));
  auto step = std::make_unique<RowNormStep>();
  if (!Prepare(ctx, *step)) return false;
  SetRows(*step, shape, static_cast<size_t>(first));
  const auto operand = [&](size_t i) -> std::optional<RowOperand> {
    if (node.inputs().size() <= i || node.input(i) == nullptr) return std::nullopt;
    return OperandOf(ctx, node.input(i), shape, step->n);
  };
  step->scale = operand(1);
  step->bias = operand(2);
  step->rule = rule;
  step->result = step->bias    ? NormResult::kTimesScaleShift
                 : step->scale ? NormResult::kTimesScale
                               : NormResult::kTimes;
  if (node.outputs().size() > 1) step->mean_out = ctx.PlaceOf(node.output(1));
  if (node.outputs().size() > 2) step->factor_out = ctx.PlaceOf(node.output(2));
  Finish(ctx, std::move(step));
  return true;
}

Result<bool> PlanLayerNorm(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<LayerNormAttrs>();
  return PlanTrailing(ctx, a.axis, MomentsRule(a.epsilon));
}

Result<bool> PlanRmsNorm(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<RmsNormAttrs>();
  NormRule rule = MomentsRule(a.epsilon);
  rule.centred = false;
  return PlanTrailing(ctx, a.axis, rule);
}

// Channels last.
Result<bool> PlanGroups(PlanContext& ctx, Layout layout, int64_t groups, float epsilon) {
  const Node& node = ctx.node();
  const auto shape = ShapeOf(node.input(0));
  if (!AllF32(node) || layout != Layout::kNxc) return false;
  const int64_t channels = shape.back();
  const size_t batch = static_cast<size_t>(shape.front());
  const size_t lines = Product(shape, 1, shape.size() - 1);
  const Place scale = ctx.PlaceOf(node.input(1));
  const Place bias = ctx.PlaceOf(node.input(2));
  std::unique_ptr<NormStep> base;
  if (groups == channels) {
    auto step = std::make_unique<ColumnNormStep>();
    if (!Prepare(ctx, *step)) return false;
    const auto offsets = [](size_t n, size_t step_size) {
      std::vector<int64_t> at(n);
      for (size_t i = 0; i < n; ++i) at[i] = static_cast<int64_t>(i * step_size);
      return at;
    };
    step->in_starts = offsets(batch, lines * step->in.row_stride);
    step->in_offsets = offsets(lines, step->in.row_stride);
    step->out_starts = offsets(batch, lines * step->out.row_stride);
    step->out_offsets = offsets(lines, step->out.row_stride);
    step->columns = static_cast<size_t>(channels);
    step->scale = scale;
    step->bias = bias;
    step->ChooseBlocks();
    base = std::move(step);
  } else {
    auto step = std::make_unique<GroupNormStep>();
    if (!Prepare(ctx, *step)) return false;
    step->batch = batch;
    step->lines = lines;
    step->groups = static_cast<size_t>(groups);
    step->per_group = static_cast<size_t>(channels / groups);
    step->scale = scale;
    step->bias = bias;
    step->scale_by_group = ShapeOf(node.input(1)).front() != channels;
    step->bias_by_group = ShapeOf(node.input(2)).front() != channels;
    base = std::move(step);
  }
  base->rule = MomentsRule(epsilon);
  base->result = NormResult::kTimesScaleShift;
  Finish(ctx, std::move(base));
  return true;
}

Result<bool> PlanInstanceNorm(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<InstanceNormAttrs>();
  return PlanGroups(ctx, a.layout, ShapeOf(ctx.node().input(0)).back(), a.epsilon);
}

Result<bool> PlanGroupNorm(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<GroupNormAttrs>();
  return PlanGroups(ctx, a.layout, a.groups, a.epsilon);
}

// Whether rows go by the last axis first, then by the ones before it in order.
bool LastAxisFirst(const std::vector<int>& axes, size_t rank) {
  if (axes.size() < 2 || axes.front() != static_cast<int>(rank) - 1) return false;
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != static_cast<int>(rank - axes.size() + i - 1)) return false;
  return true;
}

Result<std::unique_ptr<NormStep>> StepOverAxes(PlanContext& ctx, const std::vector<int>& axes) {
  const auto shape = RowShape(ctx.node().input(0));
  const size_t inner = static_cast<size_t>(shape.back());
  if (LastAxisFirst(axes, shape.size())) {
    auto step = std::make_unique<GroupNormStep>();
    if (!Prepare(ctx, *step)) return nullptr;
    step->batch = Product(shape, 0, shape.size() - axes.size());
    step->lines = Product(shape, shape.size() - axes.size(), shape.size() - 1);
    step->per_group = inner;
    return step;
  }
  RowPlan plan(shape, axes);
  if (plan.contiguous) {
    auto step = std::make_unique<RowNormStep>();
    if (!Prepare(ctx, *step)) return nullptr;
    step->rows = plan.starts.size();
    step->n = plan.offsets.size();
    step->columns = inner;
    step->lines = inner == 0 ? 1 : step->n / inner;
    return step;
  }
  auto step = std::make_unique<ColumnNormStep>();
  if (!Prepare(ctx, *step)) return nullptr;
  const bool dense = Dense(step->in, shape) && Dense(step->out, shape);
  if (plan.columns != inner && !(dense && step->tail.empty())) return nullptr;
  step->columns = plan.columns;
  step->in_starts = Spread(plan.starts, inner, step->in.row_stride);
  step->in_offsets = Spread(plan.offsets, inner, step->in.row_stride);
  step->out_starts = Spread(std::move(plan.starts), inner, step->out.row_stride);
  step->out_offsets = Spread(std::move(plan.offsets), inner, step->out.row_stride);
  step->ChooseBlocks();
  return step;
}

Result<bool> PlanOverAxes(PlanContext& ctx, const std::vector<int64_t>& listed,
                          const NormRule& rule, NormResult result) {
  const Node& node = ctx.node();
  if (!AllF32(node)) return false;
  const int rank = static_cast<int>(ShapeOf(node.input(0)).size());
  std::vector<int> axes = {0};
  if (rank > 0) {
    NN_ASSIGN(axes, ReducedAxes(listed, rank));
  }
  NN_ASSIGN(std::unique_ptr<NormStep> step, StepOverAxes(ctx, axes));
  if (step == nullptr) return false;
  step->rule = rule;
  step->result = result;
  Finish(ctx, std::move(step));
  return true;
}

Result<bool> PlanL2(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<L2NormalizationAttrs>();
  NormRule rule;
  rule.root = RootOf(a.epsilon_rule);
  rule.epsilon = a.epsilon;
  return PlanOverAxes(ctx, a.axes, rule, NormResult::kOver);
}

Result<bool> PlanLp(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<LpNormalizationAttrs>();
  NormRule rule;
  if (a.p == 1) {
    rule.spread = NormRule::Spread::kMagnitudes;
    rule.root = NormRule::Root::kNone;
  }
  return PlanOverAxes(ctx, {a.axis}, rule, NormResult::kOverOrZero);
}

Result<bool> PlanMeanVariance(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<MeanVarianceNormalizationAttrs>();
  NormRule rule = MomentsRule(a.epsilon);
  rule.inverse = false;
  rule.root = RootOf(a.epsilon_rule);
  if (!a.normalize_variance) rule.spread = NormRule::Spread::kNone;
  return PlanOverAxes(ctx, a.axes, rule,
                      a.normalize_variance ? NormResult::kOver : NormResult::kTimes);
}

Result<bool> PlanLrn(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<LrnAttrs>();
  if (!AllF32(node) || a.layout != Layout::kNxc) return false;
  auto step = std::make_unique<LrnStep>();
  if (!Prepare(ctx, *step)) return false;
  const auto shape = ShapeOf(node.input(0));
  step->rows = Product(shape, 0, shape.size() - 1);
  step->columns = static_cast<size_t>(shape.back());
  step->window.before = static_cast<size_t>(std::min((a.size - 1) / 2, shape.back()));
  step->window.after = static_cast<size_t>(std::min(a.size - 1 - (a.size - 1) / 2, shape.back()));
  step->window.alpha = a.alpha / static_cast<float>(a.size);
  step->window.beta = a.beta;
  step->window.bias = a.bias;
  Finish(ctx, std::move(step));
  return true;
}

}  // namespace

Result<bool> PlanComputedBatchNorm(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<BatchNormAttrs>();
  if (!AllF32(node) || a.layout != Layout::kNxc) return false;
  auto step = std::make_unique<ScaleShiftStep>();
  if (!Prepare(ctx, *step)) return false;
  const auto shape = ShapeOf(node.input(0));
  auto factors = std::make_unique<FactorsStep>();
  factors->channels = static_cast<size_t>(shape.back());
  factors->epsilon = a.epsilon;
  factors->label = "factors of batch_norm";
  factors->out = ctx.AddScratch(2 * factors->channels * sizeof(float));
  std::vector<BufferId> operands;
  for (size_t i = 0; i < 4; ++i) {
    factors->operands[i] = ctx.PlaceOf(node.input(i + 1));
    operands.push_back(factors->operands[i].buffer);
  }
  step->rows = Product(shape, 0, shape.size() - 1);
  step->columns = factors->channels;
  step->factors = factors->out;
  ctx.AddStep(std::move(factors), std::move(operands), {step->factors});
  std::vector<BufferId> reads = step->tail.reads();
  reads.insert(reads.end(), {step->in.buffer, step->factors});
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  return true;
}

void AddNormKernels(std::vector<KernelInfo>& kernels) {
  for (const auto& [op, plan] :
       {std::pair("layer_norm", &PlanLayerNorm), std::pair("rms_norm", &PlanRmsNorm),
        std::pair("instance_norm", &PlanInstanceNorm), std::pair("group_norm", &PlanGroupNorm),
        std::pair("l2_normalization", &PlanL2), std::pair("lp_normalization", &PlanLp),
        std::pair("mean_variance_normalization", &PlanMeanVariance), std::pair("lrn", &PlanLrn)})
    kernels.push_back({.op = op,
                       .plan = plan,
                       .takes_tail = true,
                       .strided_input = true,
                       .strided_output = true});
}

}  // namespace nn
