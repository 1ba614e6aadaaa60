// det and inverse in elementary operators.
#include <limits>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// The largest matrices; each column takes twenty nodes.
constexpr int64_t kMaxColumns = 32;

// Gaussian elimination with partial pivoting, in the steps of the evaluations. All matrices of a
// batch choose their pivots at once.
class Elimination {
 public:
  Elimination(Graph& graph, Node& node) : e_(graph, node) {}

  Result<Value*> Determinant(Value* matrix, int64_t n) {
    const Dims batch(matrix->type().dims->begin(), matrix->type().dims->end() - 2);
    const bool joined = batch.size() > 1;
    NN_ASSIGN(matrix, Begin(matrix, n));
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

  Result<Value*> Inverse(Value* matrix, int64_t n) {
    const Dims dims = *matrix->type().dims;
    NN_ASSIGN(matrix, Begin(matrix, n));
    std::vector<float> identity(static_cast<size_t>(n * n));
    for (int64_t i = 0; i < n; ++i) identity[static_cast<size_t>(i * (n + 1))] = 1;
    Value* right = e_.Constant(Tensor::Of({n, n}, identity));
    if (row_ > 0) {
      // The shape of the batch, which may be known only to a run.
      NN_ASSIGN(Value* const all, RowsWhere(n, [](int64_t) { return true; }));
      NN_ASSIGN(right, e_.Add("select", {all, right, matrix}));
    }
    NN_ASSIGN(matrix, e_.Add("concat", {matrix, right}, ConcatAttrs{row_ + 1}));
    Value* singular = nullptr;
    for (int64_t k = 0; k < n; ++k) {
      Value* is_zero = nullptr;
      NN_ASSIGN(std::tie(matrix, is_zero), InverseStep(matrix, k, n));
      if (singular != nullptr) {
        NN_ASSIGN(is_zero, e_.Add("or", {singular, is_zero}));
      }
      singular = is_zero;
    }
    NN_ASSIGN(matrix, Part(matrix, row_ + 1, n, 2 * n));
    NN_ASSIGN(Value* const nan, e_.Number(DType::kF32, std::numeric_limits<double>::quiet_NaN()));
    NN_ASSIGN(matrix, e_.Add("select", {singular, nan, matrix}));
    if (dims.size() <= 3) return matrix;
    return e_.Add("reshape", {matrix}, ReshapeAttrs{dims, false});
  }

  bool Replace(Value* y) { return e_.Replace(y); }

 private:
  // The matrices of n rows with their batches in one axis.
  Result<Value*> Begin(Value* matrix, int64_t n) {
    const Dims batch(matrix->type().dims->begin(), matrix->type().dims->end() - 2);
    if (batch.size() > 1) {
      NN_ASSIGN(matrix,
                e_.Add("reshape", {matrix}, ReshapeAttrs{{Product(batch), Dim(n), Dim(n)}, false}));
    }
    row_ = matrix->type().rank() - 2;
    NN_ASSIGN(zero_, e_.Number(DType::kF32, 0));
    NN_ASSIGN(one_, e_.Number(DType::kF32, 1));
    return matrix;
  }

  Result<Value*> Part(Value* v, int axis, int64_t begin, int64_t end) {
    return e_.Add("slice", {v}, SliceAttrs{{axis}, {begin}, {end}, {1}});
  }

  // Which of `size` rows, from row `first` on, has the pivot of a column.
  Result<Value*> PivotRow(Value* column, int64_t size, int64_t first = 0) {
    NN_ASSIGN(Value * index, e_.Add("abs", {column}));
    if (first > 0) {
      NN_ASSIGN(Value* const before, RowsWhere(size, [&](int64_t i) { return i < first; }));
      NN_ASSIGN(Value* const none, e_.Number(DType::kF32, -1));
      NN_ASSIGN(index, e_.Add("select", {before, none, index}));
    }
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

  // A constant column of booleans.
  template <typename Fn>
  Result<Value*> RowsWhere(int64_t size, Fn fn) {
    NN_ASSIGN(TensorBuilder rows, TensorBuilder::Create(DType::kBool, {size, 1}));
    for (int64_t i = 0; i < size; ++i) rows.SetInt(i, fn(i) ? 1 : 0);
    return e_.Constant(rows.Finish());
  }

  // The rows after column k has become that of the identity, and whether its pivot was 0.
  Result<std::pair<Value*, Value*>> InverseStep(Value* rows, int64_t k, int64_t n) {
    const int column_axis = row_ + 1;
    NN_ASSIGN(Value* const column, Part(rows, column_axis, k, k + 1));
    NN_ASSIGN(Value* const is_pivot, PivotRow(column, n, k));
    NN_ASSIGN(Value * top, e_.Add("select", {is_pivot, rows, zero_}));
    NN_ASSIGN(top, e_.Add("reduce_sum", {top}, ReduceAttrs{{row_}, true}));
    NN_ASSIGN(Value* const pivot, Part(top, column_axis, k, k + 1));
    NN_ASSIGN(Value* const is_zero, e_.Add("equal", {pivot, zero_}));
    NN_ASSIGN(Value* const first, Part(rows, row_, k, k + 1));
    NN_ASSIGN(rows, e_.Add("select", {is_pivot, first, rows}));
    NN_ASSIGN(top, e_.Add("div", {top, pivot}));
    NN_ASSIGN(Value* const factors, Part(rows, column_axis, k, k + 1));
    NN_ASSIGN(Value* const product, e_.Add("mul", {factors, top}));
    NN_ASSIGN(rows, e_.Add("sub", {rows, product}));
    NN_ASSIGN(Value* const is_top, RowsWhere(n, [&](int64_t i) { return i == k; }));
    NN_ASSIGN(rows, e_.Add("select", {is_top, top, rows}));
    return std::pair(rows, is_zero);
  }

  Expansion e_;
  int row_ = 0;  // the axis of rows, before that of columns
  Value* zero_ = nullptr;
  Value* one_ = nullptr;
};

// The columns of the matrices; 0 if they are not expanded.
int64_t ColumnsOf(const Node& node) {
  const Type& x = node.input(0)->type();
  const int rank = x.rank();
  if (!IsPlainF32(node) || rank < 2) return 0;
  const Dim& n = x.dim(rank - 1);
  if (!n.is_const() || x.dim(rank - 2) != n || n.value() > kMaxColumns) return 0;
  return n.value();
}

}  // namespace

Result<bool> ExpandDet(Graph& graph, Node& node) {
  const int64_t n = ColumnsOf(node);
  if (n < 1) return false;
  Elimination elimination(graph, node);
  NN_ASSIGN(Value* const y, elimination.Determinant(node.input(0), n));
  return elimination.Replace(y);
}

Result<bool> ExpandInverse(Graph& graph, Node& node) {
  const int64_t n = ColumnsOf(node);
  if (n < 1) return false;
  Elimination elimination(graph, node);
  NN_ASSIGN(Value* const y, elimination.Inverse(node.input(0), n));
  return elimination.Replace(y);
}

}  // namespace nn
