// The steps of float32 normalizations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/kernels/norm.h"
#include "exec/runtime/step.h"
#include "exec/steps/post_ops.h"

namespace nn {

// Shared by all normalizations.
class NormStep : public Step {
 public:
  MemoryView in, out;
  NormRule rule;
  NormResult result = NormResult::kTimes;
  PostOpProgram post_ops;
};

// ---- Rows of adjacent elements

// A scale or bias that broadcasts to the tensor.
struct RowOperand {
  MemoryView view;
  RowMap rows;         // maps rows of the tensor to its rows
  bool fixed = false;  // the same elements for every normalized row
  bool one = false;    // one element for all of them
};

// A work item is a few rows of n elements, each `lines` rows of the tensor of `columns` elements.
class RowNormStep : public NormStep {
 public:
  size_t rows = 0, n = 0, lines = 1, columns = 0;
  std::optional<RowOperand> scale, bias;
  std::optional<MemoryView> mean_out, factor_out;

  size_t grid() const override { return (rows + row_block() - 1) / row_block(); }

  void Run(const Memory& memory, size_t item) const override;

 private:
  static constexpr size_t kTogether = 32;

  size_t row_block() const;

  void RunRows(const Memory& memory, size_t first, size_t count) const;

  // Rows of the tensor; if one has several lines, these are adjacent.
  struct Lines {
    const float* data;
    size_t stride;
  };
  Lines LinesOf(const Memory& memory, size_t first, size_t count) const;

  // The block starts at row `row` of the tensor.
  void Normalize(const Memory& memory, size_t row, const NormBlock& block, const float* shift,
                 const float* factor) const;
};

// ---- Columns

// The parameters of each column of each row: all shifts, then all factors, row after row; then, if
// parameters are given per group, the scale and bias of each column.
struct ColumnStatistics {
  BufferId buffer = 0;
  size_t rows = 0, columns = 0;

  size_t elements() const { return 2 * rows * columns + 2 * columns; }
  float* shift(const Memory& memory, size_t row) const { return At(memory, row * columns); }
  float* factor(const Memory& memory, size_t row) const {
    return At(memory, (rows + row) * columns);
  }
  MemoryView scale() const { return {buffer, 2 * rows * columns * sizeof(float), columns}; }
  MemoryView bias() const { return {buffer, (2 * rows + 1) * columns * sizeof(float), columns}; }

 private:
  float* At(const Memory& memory, size_t i) const {
    return MemoryView{buffer, 0, 0}.As<float>(memory) + i;
  }
};

// A work item is a block of the columns of a row; blocks are whole cache lines except the last,
// which takes the rest.
class ColumnStatisticsStep : public Step {
 public:
  MemoryView in;
  NormRule rule;
  ColumnStatistics statistics;
  std::vector<int64_t> starts, offsets;  // as in RowPlan

  void ChooseBlocks();
  size_t grid() const override { return starts.size() * blocks; }
  void Run(const Memory& memory, size_t item) const override;

 private:
  size_t column_block = 64, blocks = 0;
};

// Rows are (batch, group); their elements are ordered by column of the group, then by line. A work
// item is a few adjacent groups, whose columns are transposed first.
class GroupStatisticsStep : public Step {
 public:
  MemoryView in;
  NormRule rule;
  ColumnStatistics statistics;
  size_t batch = 0, lines = 0, groups = 1, per_group = 1;
  std::optional<MemoryView> scale, bias;  // one element per group, expanded to its columns

  void ChooseBlocks();
  size_t grid() const override { return batch * blocks; }
  void Run(const Memory& memory, size_t item) const override;

 private:
  size_t group_block = 1, blocks = 0;
};

// Normalizes with statistics of columns. A work item is a few lines, with one element of the row in
// each column.
class ColumnNormStep : public NormStep {
 public:
  ColumnStatistics statistics;
  std::vector<int64_t> in_starts, in_offsets;  // as in RowPlan
  std::vector<int64_t> out_starts, out_offsets;
  std::optional<MemoryView> scale, bias;  // one element per column

  void ChooseBlocks();
  size_t grid() const override;
  void Run(const Memory& memory, size_t item) const override;

 private:
  // Lines [first, first + count) of a row.
  void RunLines(const Memory& memory, size_t row, size_t first, size_t count) const;

  size_t line_block = 1;
  bool regular = true;  // lines are equally spaced
};

// ---- Local response normalization

class LrnStep : public NormStep {
 public:
  size_t rows = 0, columns = 0;
  LrnWindow window;

  size_t grid() const override { return columns == 0 ? 0 : (rows + row_block() - 1) / row_block(); }
  void Run(const Memory& memory, size_t item) const override;

 private:
  size_t row_block() const;
};

// ---- batch_norm by operands that are not constant

// The scale and shift of every channel, one after the other.
class FactorsStep : public Step {
 public:
  std::array<MemoryView, 4> operands;  // scale, bias, mean, variance
  float epsilon = 0.0f;
  size_t channels = 0;
  BufferId out = 0;

  size_t grid() const override { return 1; }
  void Run(const Memory& memory, size_t) const override;
};

class ScaleShiftStep : public NormStep {
 public:
  size_t rows = 0, columns = 0;
  BufferId factors = 0;

  size_t grid() const override { return (rows + row_block() - 1) / row_block(); }
  void Run(const Memory& memory, size_t item) const override;

 private:
  size_t row_block() const;
};

}  // namespace nn
