// The steps of normalisations of float32.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/kernels/norm.h"
#include "exec/step.h"
#include "exec/tail.h"

namespace nn {

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

  void Run(const Memory& memory, size_t item) const override;

 private:
  static constexpr size_t kTogether = 32;

  size_t row_block() const;

  void RunRows(const Memory& memory, size_t first, size_t count) const;

  // Rows of the tensor; where one has several lines, these are neighbours.
  struct Lines {
    const float* data;
    size_t stride;
  };
  Lines LinesOf(const Memory& memory, size_t first, size_t count) const;

  // The block begins with row `row` of the tensor.
  void Normalise(const Memory& memory, size_t row, const NormBlock& block, const float* shift,
                 const float* factor) const;
};

// ---- Columns

// What a step knows of each column of each row: all shifts, then all factors, of a row one after
// the other; then, where parameters are given by group, the scale and bias of each column.
struct ColumnStatistics {
  BufferId buffer = 0;
  size_t rows = 0, columns = 0;

  size_t elements() const { return 2 * rows * columns + 2 * columns; }
  float* shift(const Memory& memory, size_t row) const { return At(memory, row * columns); }
  float* factor(const Memory& memory, size_t row) const {
    return At(memory, (rows + row) * columns);
  }
  Place scale() const { return {buffer, 2 * rows * columns * sizeof(float), columns}; }
  Place bias() const { return {buffer, (2 * rows + 1) * columns * sizeof(float), columns}; }

 private:
  float* At(const Memory& memory, size_t i) const {
    return Place{buffer, 0, 0}.As<float>(memory) + i;
  }
};

// An item is a block of the columns of a row; blocks are whole cache lines but for the last, which
// takes what is left over.
class ColumnStatisticsStep : public Step {
 public:
  Place in;
  NormRule rule;
  ColumnStatistics statistics;
  std::vector<int64_t> starts, offsets;  // as in RowPlan

  void ChooseBlocks();
  size_t grid() const override { return starts.size() * blocks; }
  void Run(const Memory& memory, size_t item) const override;

 private:
  size_t column_block = 64, blocks = 0;
};

// Rows are (batch, group); their elements go by column of the group, then by line. An item is a few
// neighbouring groups, whose columns are transposed first.
class GroupStatisticsStep : public Step {
 public:
  Place in;
  NormRule rule;
  ColumnStatistics statistics;
  size_t batch = 0, lines = 0, groups = 1, per_group = 1;
  std::optional<Place> scale, bias;  // an element a group, to be spread over its columns

  void ChooseBlocks();
  size_t grid() const override { return batch * blocks; }
  void Run(const Memory& memory, size_t item) const override;

 private:
  size_t group_block = 1, blocks = 0;
};

// Normalises by statistics of columns. An item is a few lines, an element of the row in each
// column.
class ColumnNormStep : public NormStep {
 public:
  ColumnStatistics statistics;
  std::vector<int64_t> in_starts, in_offsets;  // as in RowPlan
  std::vector<int64_t> out_starts, out_offsets;
  std::optional<Place> scale, bias;  // an element a column

  void ChooseBlocks();
  size_t grid() const override;
  void Run(const Memory& memory, size_t item) const override;

 private:
  // Lines [first, first + count) of a row.
  void RunLines(const Memory& memory, size_t row, size_t first, size_t count) const;

  size_t line_block = 1;
  bool regular = true;  // lines are equally far apart
};

// ---- Local response normalisation

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

// scale and shift of every channel, one after the other.
class FactorsStep : public Step {
 public:
  std::array<Place, 4> operands;  // scale, bias, mean, variance
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
