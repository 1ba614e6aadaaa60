#include "ops/math/det.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/support/composition.h"
#include "ops/support/movement.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// kModel unless x consists of square matrices, as far as its shape is known.
Status RequireSquare(const InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireReal(ctx, 0));
  const Type& x = ctx.in(0);
  if (!x.ranked()) return {};
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 2));
  const Dim &rows = x.dim(x.rank() - 2), &columns = x.dim(x.rank() - 1);
  if (rows.is_const() && columns.is_const() && rows != columns)
    return ModelError("rows and columns: {} and {} differ", rows.ToString(), columns.ToString());
  return {};
}

Status InferDet(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireSquare(ctx));
  const Type& x = ctx.in(0);
  ctx.set_out(0, x.ranked() ? x.WithDims(Dims(x.dims->begin(), x.dims->end() - 2)) : Unranked(x));
  return {};
}

Status InferInverse(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireSquare(ctx));
  ctx.set_out(0, ctx.in(0));
  return {};
}

// The row, from `first` on, with the pivot of column `first`; rows have `stride` elements.
template <typename T>
size_t PivotRow(std::span<const T> matrix, size_t n, size_t stride, size_t first) {
  size_t best = first;
  T most = -1;
  for (size_t row = first; row < n; ++row) {
    const T size = std::fabs(matrix[row * stride + first]);
    if (std::isnan(size)) return row;
    if (size > most) {
      most = size;
      best = row;
    }
  }
  return best;
}

// Eliminates in place.
template <typename T>
T Determinant(std::span<T> matrix, size_t n) {
  T product = 1;
  for (size_t k = 0; k < n; ++k) {
    T* const top = matrix.data() + k * n;
    const size_t row = PivotRow<T>(matrix, n, n, k);
    if (row != k) {
      std::swap_ranges(top, top + n, matrix.data() + row * n);
      product = -product;
    }
    const T pivot = top[k];
    if (pivot == 0) return 0;
    product = product * pivot;
    for (size_t i = k + 1; i < n; ++i) {
      T* const below = matrix.data() + i * n;
      const T quotient = below[k] / pivot;
      for (size_t j = k + 1; j < n; ++j) below[j] -= quotient * top[j];
    }
  }
  return product;
}

Status CheckSquare(const Tensor& x) {
  if (x.dim(x.rank() - 1) == x.dim(x.rank() - 2)) return {};
  return ModelError("the matrices have {} rows and {} columns", x.dim(x.rank() - 2),
                    x.dim(x.rank() - 1));
}

Status EvalDet(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  NN_RETURN_IF_ERROR(CheckSquare(x));
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const auto n = static_cast<size_t>(x.dim(x.rank() - 1));
    const Reals<T> values(x);
    std::vector<T> matrix(n * n);
    for (int64_t i = 0; i < y.size(); ++i) {
      std::copy_n(values.data() + static_cast<size_t>(i) * n * n, n * n, matrix.data());
      y[i] = Determinant(std::span(matrix), n);
    }
    y.Finish();
    return {};
  });
}

// Turns a matrix and the identity, side by side, into the identity and the inverse; false if the
// matrix is singular.
template <typename T>
bool Invert(std::span<T> rows, size_t n) {
  const size_t width = 2 * n;
  for (size_t k = 0; k < n; ++k) {
    T* const top = rows.data() + k * width;
    const size_t row = PivotRow<T>(rows, n, width, k);
    if (row != k) std::swap_ranges(top, top + width, rows.data() + row * width);
    const T pivot = top[k];
    if (pivot == 0) return false;
    for (size_t j = 0; j < width; ++j) top[j] /= pivot;
    for (size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      T* const other = rows.data() + i * width;
      const T factor = other[k];
      for (size_t j = 0; j < width; ++j) other[j] -= factor * top[j];
    }
  }
  return true;
}

Status EvalInverse(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  NN_RETURN_IF_ERROR(CheckSquare(x));
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const auto n = static_cast<size_t>(x.dim(x.rank() - 1));
    const Reals<T> values(x);
    std::vector<T> rows(2 * n * n);
    for (size_t at = 0; at < static_cast<size_t>(y.size()); at += n * n) {
      for (size_t i = 0; i < n; ++i) {
        T* const row = rows.data() + 2 * n * i;
        std::copy_n(values.data() + at + n * i, n, row);
        std::fill_n(row + n, n, T{0});
        row[n + i] = 1;
      }
      const bool regular = Invert(std::span(rows), n);
      for (size_t i = 0; i < n; ++i) {
        T* const out = y.data() + at + n * i;
        if (regular) {
          std::copy_n(rows.data() + 2 * n * i + n, n, out);
        } else {
          std::fill_n(out, n, std::numeric_limits<T>::quiet_NaN());
        }
      }
    }
    y.Finish();
    return {};
  });
}

std::optional<int64_t> InverseMultiplyAdds(const Node& node) {
  const auto x = node.input(0)->type().const_dims();
  if (!x || x->empty()) return std::nullopt;
  const std::vector<int64_t> factors = {CheckedElements(*x).value_or(-1), x->back(), 2};
  return factors[0] < 0 ? std::nullopt : CheckedElements(factors);
}

std::optional<int64_t> DetMultiplyAdds(const Node& node) {
  const auto x = node.input(0)->type().const_dims();
  if (!x || x->empty()) return std::nullopt;
  const auto elements = CheckedElements(*x);
  return elements ? CheckedMul(*elements, x->back()) : std::nullopt;
}

}  // namespace

void RegisterDetOps(OpRegistry& ops) {
  OpDef op;
  op.name = "det";
  op.summary = "determinants of the matrices in the last two axes";
  op.category = Category::kArithmetic;
  op.inputs = {{"x"}};
  op.infer = InferDet;
  op.eval = EvalDet;
  op.multiply_adds = DetMultiplyAdds;
  op.formats = {{"onnx", "Det", 11, {}}};
  ops.Add(std::move(op));

  OpDef inverse;
  inverse.name = "inverse";
  inverse.summary = "inverses of the matrices in the last two axes";
  inverse.category = Category::kArithmetic;
  inverse.inputs = {{"x"}};
  inverse.infer = InferInverse;
  inverse.eval = EvalInverse;
  inverse.multiply_adds = InverseMultiplyAdds;
  ops.Add(std::move(inverse));
}

}  // namespace nn
