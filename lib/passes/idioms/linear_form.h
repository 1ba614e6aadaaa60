// Sums of products of values with constant matrices, as exporters write the argument of a gate:
//
//   x W + h R + b    with the matrices of several gates side by side or apart, with x and h
//                    concatenated, or with the product of a whole sequence of which x is a step
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "ir/graph.h"
#include "ir/types/dim.h"

namespace nn {

// A value as a matrix, whose columns are its last axis, and whose rows are the others, or those at
// one index of an axis.
struct RowView {
  static constexpr int kAllRows = -1;

  Value* value = nullptr;
  Dims lead;  // the axes of the rows if they are not all rows
  int axis = kAllRows;
  int64_t index = 0;

  bool SameRows(const RowView& other) const {
    return value == other.value && axis == other.axis && index == other.index;
  }
};

// The values and nodes of an expression are recorded in `nodes`.
using NodeSet = std::set<const Node*>;

// The view of all rows of a value, from the value that holds them: nodes that only move rows, or
// select those of one index, are skipped.
RowView ViewOf(Value* v, NodeSet& nodes);
// The same for an operand; a slice of one column is an index of the last axis.
RowView OperandView(RowView view, NodeSet& nodes);

// Some columns of a view.
struct ColumnView {
  RowView rows;
  int64_t first = 0;
  int64_t count = 0;
};
// The columns of a value, from the value that holds them.
ColumnView ColumnsOf(Value* v, NodeSet& nodes);

// The result of `view.rows.value`'s node at the same rows and columns of its operand.
ColumnView Through(const ColumnView& view, Value* operand);

// A constant vector, scaled; a constant with one column has the same number in each.
struct VectorPart {
  Value* values = nullptr;
  int64_t first = 0;
  double factor = 1;

  bool operator==(const VectorPart&) const = default;
  double at(int64_t column) const;
};

struct LinearForm {
  // x times rows and columns of a constant matrix.
  struct Product {
    RowView x;
    Value* matrix = nullptr;
    bool transposed = false;
    int64_t first_row = 0, rows = 0, first_column = 0;
    double factor = 1;

    bool SameWeights(const Product& other) const;
    double at(int64_t row, int64_t column) const;
  };
  // x times a vector, element by element.
  struct Scaled {
    RowView x;
    VectorPart vector;
  };
  // Columns of a value that is no such sum.
  struct Other {
    ColumnView x;
    double factor = 1;
  };

  int64_t columns = 0;
  std::vector<Product> products;
  std::vector<Scaled> scaled;
  std::vector<Other> others;
  std::vector<VectorPart> bias;

  // Multiplies all terms.
  void Scale(double factor);
};

// nullopt if the columns are no sum of reasonable size.
std::optional<LinearForm> LinearFormOf(const ColumnView& view, NodeSet& nodes);

// Whether the node reverses the elements along this axis of its first input.
bool Reverses(const Node& node, int axis);

// The number in a constant of one element.
std::optional<double> NumberIn(const Value* v);

// Whether two values of known rank have equally many elements.
bool SameElements(const Value* a, const Value* b);

}  // namespace nn
