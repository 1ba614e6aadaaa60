#include "ops/math/det.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/support/composition.h"
#include "ops/support/movement.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {
namespace {

Status InferDet(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireReal(ctx, 0));
  const Type& x = ctx.in(0);
  if (!x.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 2));
  const Dim &rows = x.dim(x.rank() - 2), &columns = x.dim(x.rank() - 1);
  if (rows.is_const() && columns.is_const() && rows != columns)
    return ModelError("rows and columns: {} and {} differ", rows.ToString(), columns.ToString());
  ctx.set_out(0, x.WithDims(Dims(x.dims->begin(), x.dims->end() - 2)));
  return {};
}

// The row, from `first` on, with the pivot of column `first`.
template <typename T>
size_t PivotRow(std::span<const T> matrix, size_t n, size_t first) {
  size_t best = first;
  T most = -1;
  for (size_t row = first; row < n; ++row) {
    const T size = std::fabs(matrix[row * n + first]);
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
    const size_t row = PivotRow<T>(matrix, n, k);
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

Status EvalDet(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  if (x.dim(x.rank() - 1) != x.dim(x.rank() - 2))
    return ModelError("the matrices have {} rows and {} columns", x.dim(x.rank() - 2),
                      x.dim(x.rank() - 1));
  return WithReals(ctx, x.dtype(), [&](auto zero) -> Status {
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
}

}  // namespace nn
