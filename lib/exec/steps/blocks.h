// How results are split into the work items of a step: by their shape only, so that a result
// depends neither on the number of threads nor on their order.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/checked_math.h"
#include "exec/kernels/matrix_f32.h"

namespace nn {

// Rows split into work items of nearly equal size.
struct RowBlocks {
  size_t block = 1;  // rows per work item
  size_t items = 1;

  RowBlocks() = default;
  // At most `largest` rows each; an even number of work items if there are several.
  RowBlocks(size_t rows, size_t largest) {
    items = std::max<size_t>(1, CeilDiv(rows, largest));
    if (items > 1 && items % 2 == 1) ++items;
    block = std::max<size_t>(1, CeilDiv(rows, items));
    items = std::max<size_t>(1, CeilDiv(rows, block));
  }
};

// Rows split into work items of about `most` elements: whole rows, or pieces of a long row.
class RowPieces {
 public:
  // The contents of a work item: rows [first, end), each with `n` columns starting at `column`.
  struct Part {
    size_t first, end, column, n;
  };

  RowPieces() = default;
  RowPieces(size_t rows, size_t columns, size_t most)
      : rows_(rows),
        columns_(columns),
        column_block_(std::clamp<size_t>(columns, 1, most)),
        row_block_(most / column_block_) {}

  size_t columns() const { return columns_; }
  size_t items() const { return CeilDiv(rows_, row_block_) * column_items(); }
  Part At(size_t item) const {
    const size_t first = item / column_items() * row_block_;
    const size_t column = item % column_items() * column_block_;
    return {first, std::min(rows_, first + row_block_), column,
            std::min(column_block_, columns_ - column)};
  }

 private:
  size_t column_items() const { return CeilDiv(columns_, column_block_); }

  size_t rows_ = 0, columns_ = 0, column_block_ = 1, row_block_ = 1;
};

// Columns of a matrix in blocks of whole panels.
struct ColumnBlocks {
  size_t block = kPanelWidth;
  size_t items = 0;

  ColumnBlocks() = default;
  // In at most `cuts` blocks.
  ColumnBlocks(size_t columns, size_t cuts) {
    block = std::max<size_t>(1, CeilDiv(CeilDiv(columns, kPanelWidth), cuts)) * kPanelWidth;
    items = CeilDiv(columns, block);
  }
};

// `count` products of m x k by k x n matrices.
class ProductBlocks {
 public:
  // The block that a work item computes.
  struct Part {
    size_t product, row, rows, column, columns;
  };

  ProductBlocks() = default;
  // At most `most_rows` rows per work item.
  ProductBlocks(size_t count, size_t m, size_t n, size_t k, size_t most_rows);

  size_t items() const { return count_ * rows_.items * columns_.items; }
  Part At(size_t item) const {
    const size_t row = item % rows_.items * rows_.block;
    const size_t column = item / rows_.items % columns_.items * columns_.block;
    return {item / (rows_.items * columns_.items), row, std::min(rows_.block, m_ - row), column,
            std::min(columns_.block, n_ - column)};
  }

 private:
  size_t count_ = 0, m_ = 0, n_ = 0;
  RowBlocks rows_;
  ColumnBlocks columns_;
};

}  // namespace nn
