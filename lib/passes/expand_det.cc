// det in elementary operators.
#include <utility>

#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/array/slice.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "passes/expand.h"

namespace nn {
namespace {

// The largest matrices; each column takes twenty nodes.
constexpr int64_t kMostColumns = 32;

// Gaussian elimination with partial pivoting, in the steps of det's evaluation. All matrices of a
// batch choose their pivots at once.
class Elimination {
 public:
  Elimination(Graph& graph, Node& node) : e_(graph, node) {}

  Result<Value*> Determinant(Value* matrix, int64_t n) {
    const Dims batch(matrix->type().dims->begin(), matrix->type().dims->end() - 2);
    const bool joined = batch.size() > 1;
    if (joined) {
      NN_ASSIGN(matrix,
                e_.Add("reshape", {matrix}, ReshapeAttrs{{Product(batch), Dim(n), Dim(n)}, false}));
    }
    row_ = matrix->type().rank() - 2;
    NN_ASSIGN(zero_, e_.Number(DType::kF32, 0));
    NN_ASSIGN(one_, e_.Number(DType::kF32, 1));
    Value* product = nullptr;
    Value* singular = nullptr;
    for (int64_t size = n; size > 0; --size) {
      Value* factor = matrix;
      if (size > 1) {
        NN_ASSIGN(std::tie(matrix, factor), Step(matrix, size));
      }
      NN_ASSIGN(Value* const is_zero, e_.Add("equal", {factor, zero_}));
      if (product == nullptr) {
        product = factor;
        singular = is_zero;
      } else {
        NN_ASSIGN(product, e_.Add("mul", {product, factor}));
        NN_ASSIGN(singular, e_.Add("or", {singular, is_zero}));
      }
    }
    // A pivot of 0 makes the determinant 0, whatever the other factors are.
    NN_ASSIGN(product, e_.Add("select", {singular, zero_, product}));
    if (joined) return e_.Add("reshape", {product}, ReshapeAttrs{batch, false});
    return e_.Add("squeeze", {product}, AxesAttrs{{row_, row_ + 1}});
  }

  bool Replace(Value* y) { return e_.Replace(y); }

 private:
  Result<Value*> Part(Value* v, int axis, int64_t begin, int64_t end) {
    return e_.Add("slice", {v}, SliceAttrs{{axis}, {begin}, {end}, {1}});
  }

  // Which row of a matrix of `size` rows has the pivot of the first column.
  Result<Value*> PivotRow(Value* column, int64_t size) {
    NN_ASSIGN(Value * index, e_.Add("abs", {column}));
    ArgAttrs along;
    along.axis = row_;
    along.output_type = DType::kI32;
    NN_ASSIGN(index, e_.Add("arg_max", {index}, along));
    std::vector<int32_t> rows;
    for (int64_t i = 0; i < size; ++i) rows.push_back(static_cast<int32_t>(i));
    return e_.Add("equal", {index, e_.Constant(Tensor::Of({size, 1}, rows))});
  }

  // The matrix without its first column and the row of the pivot, and the factor of its
  // determinant.
  Result<std::pair<Value*, Value*>> Step(Value* matrix, int64_t size) {
    const int column_axis = row_ + 1;
    NN_ASSIGN(Value* const column, Part(matrix, column_axis, 0, 1));
    NN_ASSIGN(Value* const is_pivot, PivotRow(column, size));
    NN_ASSIGN(Value * top, e_.Add("select", {is_pivot, matrix, zero_}));
    NN_ASSIGN(top, e_.Add("reduce_sum", {top}, ReduceAttrs{{row_}, true}));
    NN_ASSIGN(Value* const pivot, Part(top, column_axis, 0, 1));
    // The first row takes the place of the pivot's. Unless it is the same one, the sign changes.
    NN_ASSIGN(Value* const first, Part(matrix, row_, 0, 1));
    NN_ASSIGN(Value * rest, Part(matrix, row_, 1, size));
    NN_ASSIGN(Value* const stays, Part(is_pivot, row_, 0, 1));
    NN_ASSIGN(Value* const moves, Part(is_pivot, row_, 1, size));
    NN_ASSIGN(rest, e_.Add("select", {moves, first, rest}));
    NN_ASSIGN(Value* const opposite, e_.Add("neg", {pivot}));
    NN_ASSIGN(Value* const factor, e_.Add("select", {stays, pivot, opposite}));
    // A column of zeros remains.
    NN_ASSIGN(Value* const singular, e_.Add("equal", {pivot, zero_}));
    NN_ASSIGN(Value* const divisor, e_.Add("select", {singular, one_, pivot}));
    NN_ASSIGN(Value * quotients, Part(rest, column_axis, 0, 1));
    NN_ASSIGN(quotients, e_.Add("div", {quotients, divisor}));
    NN_ASSIGN(top, Part(top, column_axis, 1, size));
    NN_ASSIGN(rest, Part(rest, column_axis, 1, size));
    NN_ASSIGN(top, e_.Add("mul", {quotients, top}));
    NN_ASSIGN(rest, e_.Add("sub", {rest, top}));
    return std::pair(rest, factor);
  }

  Expansion e_;
  int row_ = 0;  // the axis of rows, before that of columns
  Value* zero_ = nullptr;
  Value* one_ = nullptr;
};

}  // namespace

Result<bool> ExpandDet(Graph& graph, Node& node) {
  Value* const x = node.input(0);
  const int rank = x->type().rank();
  if (!IsPlainF32(node) || rank < 2) return false;
  const Dim& n = x->type().dim(rank - 1);
  if (!n.is_const() || x->type().dim(rank - 2) != n || n.value() < 1 || n.value() > kMostColumns)
    return false;
  Elimination elimination(graph, node);
  NN_ASSIGN(Value* const y, elimination.Determinant(x, n.value()));
  return elimination.Replace(y);
}

}  // namespace nn
