#include "exec/steps/norm_steps.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/per_thread.h"
#include "exec/kernels/elementwise.h"
#include "exec/kernels/move/transpose.h"
#include "ops/nn/norm.h"

namespace nn {
namespace {

// Elements of a piece that stays in the L1 cache between passes.
constexpr size_t kNormPiece = 4096;

int64_t StepOf(const std::vector<int64_t>& offsets) {
  return offsets.size() < 2 ? 0 : offsets[1];
}

}  // namespace

void RowNormStep::Run(const Memory& memory, size_t item) const {
  const size_t end = std::min(rows, (item + 1) * row_block());
  const size_t together =
      std::clamp<size_t>(kNormPiece / std::max<size_t>(1, n) / 4 * 4, 1, kTogether);
  for (size_t r = item * row_block(); r < end; r += together)
    RunRows(memory, r, std::min(together, end - r));
}

void RowNormStep::RunRows(const Memory& memory, size_t first, size_t count) const {
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
    Normalize(memory, first * lines,
              {x.data, lines * x.stride, y, lines * out.row_stride, count, n}, shift.data(),
              factor.data());
  } else {
    for (size_t i = 0; i < count * lines; ++i)
      Normalize(memory, first * lines + i,
                {x.data + i * x.stride, 0, y + i * out.row_stride, 0, 1, columns},
                &shift[i / lines], &factor[i / lines]);
  }
  post_ops.Run(memory, y, out.row_stride, first * lines, count * lines, 0, columns);
}

RowNormStep::Lines RowNormStep::LinesOf(const Memory& memory, size_t first, size_t count) const {
  const float* x = in.As<const float>(memory) + first * lines * in.row_stride;
  if (lines == 1 || in.row_stride == columns) return {x, in.row_stride};
  static PerThread<std::vector<float>> rooms;
  std::vector<float>& room = rooms.Get();
  room.resize(count * n);
  for (size_t i = 0; i < count * lines; ++i)
    std::copy_n(x + i * in.row_stride, columns, room.data() + i * columns);
  return {room.data(), columns};
}

void RowNormStep::Normalize(const Memory& memory, size_t row, const NormBlock& block,
                            const float* shift, const float* factor) const {
  static constexpr float kOne = 1.0f;
  const auto at = [&](const std::optional<RowOperand>& o) {
    return o ? o->view.As<const float>(memory) + o->rows.Offset(row) : &kOne;
  };
  NormalizeRowsF32(result, block, shift, factor, at(scale), !scale || scale->one, at(bias),
                   !bias || bias->one);
}

void ColumnStatisticsStep::ChooseBlocks() {
  const size_t columns = statistics.columns;
  while (column_block > 16 && starts.size() * (columns / column_block) < 4) column_block /= 2;
  blocks = columns == 0 || offsets.empty() ? 0 : std::max<size_t>(1, columns / column_block);
}

void ColumnStatisticsStep::Run(const Memory& memory, size_t item) const {
  const size_t row = item / blocks;
  const size_t column = item % blocks * column_block;
  const size_t n = item % blocks + 1 == blocks ? statistics.columns - column : column_block;
  NormColumnStatisticsF32(rule, in.As<const float>(memory) + starts[row] + column, offsets.data(),
                          offsets.size(), n, statistics.shift(memory, row) + column,
                          statistics.factor(memory, row) + column);
}

void GroupStatisticsStep::ChooseBlocks() {
  if (lines * per_group == 0) return;
  constexpr size_t kElements = 1 << 18;  // that stay in the L2 cache
  // Whole cache lines; and several rows at a time, if there is enough work for several threads.
  const size_t least = std::max<size_t>(1, 16 / per_group);
  group_block = std::max<size_t>(4, least);
  while (group_block / 2 >= least &&
         (batch * CeilDiv(groups, group_block) < 8 || group_block * per_group * lines > kElements))
    group_block /= 2;
  blocks = CeilDiv(groups, group_block);
}

void GroupStatisticsStep::Run(const Memory& memory, size_t item) const {
  const size_t row = item / blocks;
  const size_t first = item % blocks * group_block;
  const size_t count = std::min(group_block, groups - first);
  const size_t columns = count * per_group;
  const size_t column = first * per_group;
  static PerThread<std::vector<float>> rooms;
  std::vector<float>& room = rooms.Get();
  room.resize(columns * lines + 2 * count);
  float* const shift = room.data() + columns * lines;
  float* const factor = shift + count;
  const float* x = in.As<const float>(memory) + row * lines * in.row_stride + column;
  TransposeMatrix(reinterpret_cast<const std::byte*>(x), in.row_stride,
                  reinterpret_cast<std::byte*>(room.data()), lines, lines, columns, sizeof(float));
  NormRowStatisticsF32(rule, room.data(), per_group * lines, count, per_group * lines, shift,
                       factor);
  const auto spread = [&](const float* from, float* to) {
    for (size_t g = 0; g < count; ++g) std::fill_n(to + column + g * per_group, per_group, from[g]);
  };
  spread(shift, statistics.shift(memory, row));
  spread(factor, statistics.factor(memory, row));
  if (row != 0) return;
  if (scale) spread(scale->As<const float>(memory) + first, statistics.scale().As<float>(memory));
  if (bias) spread(bias->As<const float>(memory) + first, statistics.bias().As<float>(memory));
}

void ColumnNormStep::ChooseBlocks() {
  line_block = FitIn(kNormPiece, statistics.columns);
  for (size_t i = 0; i < in_offsets.size(); ++i)
    regular &= in_offsets[i] == static_cast<int64_t>(i) * StepOf(in_offsets) &&
               out_offsets[i] == static_cast<int64_t>(i) * StepOf(out_offsets);
}

size_t ColumnNormStep::grid() const {
  return statistics.columns == 0 ? 0 : CeilDiv(in_starts.size() * in_offsets.size(), line_block);
}

void ColumnNormStep::Run(const Memory& memory, size_t item) const {
  const size_t lines = in_offsets.size();
  const size_t end = std::min(in_starts.size() * lines, (item + 1) * line_block);
  for (size_t i = item * line_block; i < end;) {
    const size_t first = i % lines;
    const size_t count = regular ? std::min(end - i, lines - first) : 1;
    RunLines(memory, i / lines, first, count);
    i += count;
  }
}

void ColumnNormStep::RunLines(const Memory& memory, size_t row, size_t first, size_t count) const {
  const auto at = [&](const std::optional<MemoryView>& view) {
    return view ? view->As<const float>(memory) : nullptr;
  };
  const auto to = static_cast<size_t>(out_starts[row] + out_offsets[first]);
  NormBlock block;
  block.x = in.As<const float>(memory) + in_starts[row] + in_offsets[first];
  block.x_stride = static_cast<size_t>(StepOf(in_offsets));
  block.y = out.As<float>(memory) + to;
  block.y_stride = static_cast<size_t>(StepOf(out_offsets));
  block.rows = count;
  block.columns = statistics.columns;
  NormalizeColumnsF32(result, block, statistics.shift(memory, row), statistics.factor(memory, row),
                      at(scale), at(bias));
  if (post_ops.empty()) return;
  // With post-ops a line is a row of the tensor.
  const size_t line = to / out.row_stride;
  const size_t step = block.y_stride / out.row_stride;
  if (step <= 1)
    return post_ops.Run(memory, block.y, block.y_stride, line, count, 0, block.columns);
  for (size_t i = 0; i < count; ++i)
    post_ops.Run(memory, block.y + i * block.y_stride, 0, line + i * step, 1, 0, block.columns);
}

void LrnStep::Run(const Memory& memory, size_t item) const {
  const size_t first = item * row_block();
  static PerThread<std::vector<float>> all_squares;
  std::vector<float>& squares = all_squares.Get();
  squares.resize(window.before + window.after + columns + 16);
  NormBlock block;
  block.x = in.As<const float>(memory) + first * in.row_stride;
  block.x_stride = in.row_stride;
  block.y = out.As<float>(memory) + first * out.row_stride;
  block.y_stride = out.row_stride;
  block.rows = std::min(row_block(), rows - first);
  block.columns = columns;
  LrnRowsF32(window, block, squares.data());
  post_ops.Run(memory, block.y, out.row_stride, first, block.rows, 0, columns);
}

void FactorsStep::Run(const Memory& memory, size_t) const {
  float* y = MemoryView{out, 0, 0}.As<float>(memory);
  const auto at = [&](size_t i, size_t c) { return operands[i].As<const float>(memory)[c]; };
  for (size_t c = 0; c < channels; ++c) {
    const ScaleShift f = BatchNormFactor(at(0, c), at(1, c), at(2, c), at(3, c), epsilon);
    y[c] = f.scale;
    y[channels + c] = f.shift;
  }
}

void ScaleShiftStep::Run(const Memory& memory, size_t item) const {
  const size_t first = item * row_block();
  const size_t count = std::min(row_block(), rows - first);
  const float* f = MemoryView{factors, 0, 0}.As<const float>(memory);
  float* y = out.As<float>(memory) + first * out.row_stride;
  RunMulAddRowsF32({in.As<const float>(memory) + first * in.row_stride, in.row_stride, y,
                    out.row_stride, count, columns},
                   f, f + columns);
  post_ops.Run(memory, y, out.row_stride, first, count, 0, columns);
}

size_t RowNormStep::row_block() const {
  return FitIn(2 * kNormPiece, n);
}

size_t LrnStep::row_block() const {
  return FitIn(kNormPiece, columns);
}

size_t ScaleShiftStep::row_block() const {
  return FitIn(kNormPiece, columns);
}

}  // namespace nn
