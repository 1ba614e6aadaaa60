// det and inverse in elementary operators.
#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// Limit of expansions: columns of the matrices of Det. Each takes twenty nodes.
constexpr int64_t kMaxColumns = 32;

// Gaussian elimination with partial pivoting, in the steps of the evaluations. All matrices of a
// batch choose their pivots at once.
class Elimination {
 public:
  Elimination(Graph& graph, Node& node) : e_(graph, node) {}

  Result<bool> ReplaceDeterminant(Value* matrix, int64_t n) {
    const Dims batch(matrix->type().dims->begin(), matrix->type().dims->end() - 2);
    Term rows = Begin(matrix, n);
    Term product, singular;
    for (int64_t size = n; size > 0; --size) {
      Term factor = rows;
      if (size > 1) std::tie(rows, factor) = Step(rows, size);
      const Term is_zero = Equal(factor, zero_);
      NN_ASSIGN(product, e_.Build(product.is_absent() ? factor : product * factor));
      NN_ASSIGN(singular, e_.Build(singular.is_absent() ? is_zero : Or(singular, is_zero)));
      NN_ASSIGN(rows, e_.Build(rows));
    }
    // A pivot of 0 makes the determinant 0, whatever the other factors are.
    const Term y = Select(singular, zero_, product);
    return e_.Replace(batch.size() > 1 ? Reshape(y, batch) : Squeeze(y, {row_, row_ + 1}));
  }

  Result<bool> ReplaceInverse(Value* matrix, int64_t n) {
    const Dims dims = *matrix->type().dims;
    Term rows = Begin(matrix, n);
    std::vector<float> identity(static_cast<size_t>(n * n));
    for (int64_t i = 0; i < n; ++i) identity[static_cast<size_t>(i * (n + 1))] = 1;
    Term right = Tensor::Of({n, n}, identity);
    // The shape of the batch, which may be known only to a run.
    if (row_ > 0) right = Select(RowsWhere(n, [](int64_t) { return true; }), right, rows);
    rows = Concat({rows, right}, row_ + 1);
    Term singular;
    for (int64_t k = 0; k < n; ++k) {
      const auto [next, is_zero] = InverseStep(rows, k, n);
      NN_ASSIGN(rows, e_.Build(next));
      NN_ASSIGN(singular, e_.Build(singular.is_absent() ? is_zero : Or(singular, is_zero)));
    }
    const Term y =
        Select(singular, std::numeric_limits<float>::quiet_NaN(), Slice(rows, row_ + 1, n, 2 * n));
    return e_.Replace(dims.size() <= 3 ? y : Reshape(y, dims));
  }

 private:
  // The matrices of n rows with their batches in one axis.
  Term Begin(Value* matrix, int64_t n) {
    const Dims batch(matrix->type().dims->begin(), matrix->type().dims->end() - 2);
    row_ = std::min<int>(1, static_cast<int>(batch.size()));
    if (batch.size() <= 1) return matrix;
    return Reshape(matrix, {Product(batch), Dim(n), Dim(n)});
  }

  // Which of `size` rows, from row `first` on, has the pivot of a column.
  Term PivotRow(const Term& column, int64_t size, int64_t first = 0) const {
    Term magnitude = Apply("abs", {column});
    if (first > 0)
      magnitude = Select(RowsWhere(size, [&](int64_t i) { return i < first; }), -1, magnitude);
    ArgAttrs along;
    along.axis = row_;
    along.output_type = DType::kI32;
    std::vector<int32_t> rows;
    for (int64_t i = 0; i < size; ++i) rows.push_back(static_cast<int32_t>(i));
    return Equal(Apply("arg_max", {magnitude}, along), Tensor::Of({size, 1}, rows));
  }

  // The matrix without its first column and the row of the pivot, and the factor of its
  // determinant.
  std::pair<Term, Term> Step(const Term& matrix, int64_t size) const {
    const int columns = row_ + 1;
    const Term is_pivot = PivotRow(Slice(matrix, columns, 0, 1), size);
    const Term top = ReduceSum(Select(is_pivot, matrix, zero_), {row_}, true);
    const Term pivot = Slice(top, columns, 0, 1);
    // The first row takes the place of the pivot's. Unless it is the same one, the sign changes.
    const Term rest = Select(Slice(is_pivot, row_, 1, size), Slice(matrix, row_, 0, 1),
                             Slice(matrix, row_, 1, size));
    const Term factor = Select(Slice(is_pivot, row_, 0, 1), pivot, -pivot);
    // A column of zeros remains.
    const Term quotients = Slice(rest, columns, 0, 1) / Select(Equal(pivot, zero_), one_, pivot);
    return {Slice(rest, columns, 1, size) - quotients * Slice(top, columns, 1, size), factor};
  }

  // A constant column of booleans.
  template <typename Fn>
  static Term RowsWhere(int64_t size, Fn fn) {
    std::vector<uint8_t> rows;
    for (int64_t i = 0; i < size; ++i) rows.push_back(fn(i) ? 1 : 0);
    return Tensor(DType::kBool, {size, 1}, Blob::CopyOf(rows));
  }

  // The rows after column k has become that of the identity, and whether its pivot was 0.
  std::pair<Term, Term> InverseStep(const Term& rows, int64_t k, int64_t n) const {
    const int columns = row_ + 1;
    const Term is_pivot = PivotRow(Slice(rows, columns, k, k + 1), n, k);
    const Term top = ReduceSum(Select(is_pivot, rows, zero_), {row_}, true);
    const Term pivot = Slice(top, columns, k, k + 1);
    const Term swapped = Select(is_pivot, Slice(rows, row_, k, k + 1), rows);
    const Term scaled = top / pivot;
    const Term cleared = swapped - Slice(swapped, columns, k, k + 1) * scaled;
    return {Select(RowsWhere(n, [&](int64_t i) { return i == k; }), scaled, cleared),
            Equal(pivot, zero_)};
  }

  Expansion e_;
  int row_ = 0;  // the axis of rows, before that of columns
  const Term zero_ = Tensor::Scalar(0.0f), one_ = Tensor::Scalar(1.0f);
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
  return Elimination(graph, node).ReplaceDeterminant(node.input(0), n);
}

Result<bool> ExpandInverse(Graph& graph, Node& node) {
  const int64_t n = ColumnsOf(node);
  if (n < 1) return false;
  return Elimination(graph, node).ReplaceInverse(node.input(0), n);
}

}  // namespace nn
