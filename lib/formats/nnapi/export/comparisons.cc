#include "formats/nnapi/export/comparisons.h"

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"

namespace nn::nnapi {
namespace {

constexpr double kGreatest = std::numeric_limits<float>::max();

bool MayBeInfinite(const Compared& x) {
  return !x.whole && (std::isinf(x.range.min) || std::isinf(x.range.max));
}
// Whether both can be the same infinity, so that their difference is NaN.
bool MayBothBeInfinite(const Compared& a, const Compared& b) {
  if (a.whole || b.whole) return false;
  return (std::isinf(a.range.max) && std::isinf(b.range.max)) ||
         (std::isinf(a.range.min) && std::isinf(b.range.min));
}

// The largest finite numbers in place of infinities.
Term Bounded(Term x) {
  constexpr float kLimit = std::numeric_limits<float>::max();
  return Clip(x, -kLimit, kLimit);
}
// 1 at infinity, 0 elsewhere.
Term AtInfinity(Term x) {
  return AtMostOne(Relu(x - kGreatest));
}

// Numbers along the first of 1 + inner axes.
Term Sequence(int64_t n, int inner, double first, double step) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < n; ++i)
    numbers.push_back(static_cast<float>(first + step * static_cast<double>(i)));
  std::vector<int64_t> dims(static_cast<size_t>(inner) + 1, 1);
  dims[0] = n;
  return Tensor::Of(dims, numbers);
}

// Infinity where the condition is true, -infinity elsewhere.
Term Limit(Term condition) {
  return InfiniteAt(condition) - InfiniteAt(Complement(condition));
}

// The one element along an axis for which the condition is true.
Term OnlyElement(const Compared& x, Term condition, int64_t axis) {
  const ReduceAttrs along{{axis}, false};
  if (!MayBeInfinite(x)) return Apply("reduce_sum", {x.term * condition}, along);
  return Apply("reduce_max", {Minimum(x.term, Limit(condition))}, along);
}

}  // namespace

Term Order(const Compared& a, const Compared& b) {
  if (a.whole && b.whole) return Unit(a.term - b.term);
  if (!MayBothBeInfinite(a, b)) return SignOf(a.term - b.term);
  const auto infinite = [](const Term& x) { return AtInfinity(x) - AtInfinity(-x); };
  const Term finite = SignOf(Bounded(a.term) - Bounded(b.term));
  return Unit(finite + (infinite(a.term) - infinite(b.term)));
}

Term IsPositive(Term order) {
  return Relu(order);
}
Term IsNonzero(Term order) {
  return order * order;
}
Term Complement(Term condition) {
  return -condition + 1.0;
}

Term Selected(Term condition, const Compared& a, const Compared& b) {
  if (!MayBeInfinite(a) && !MayBeInfinite(b))
    return a.term * condition + b.term * Complement(condition);
  const Term limit = Limit(condition);
  return Maximum(Minimum(a.term, limit), Minimum(b.term, -limit));
}

// The elements equal to the maximum get positive weights, of which the largest is the answer's.
Term Index(const Compared& x, const IndexOfMaximum& what) {
  const Term maximum = Apply("reduce_max", {x.term}, ReduceAttrs{{what.axis}, true});
  Term differs = maximum - x.term;
  if (x.whole) {
    differs = AtMostOne(differs);
  } else if (!MayBeInfinite(x)) {
    differs = Step(differs);
  } else {
    // Infinity is below its bound, and the largest number is not, because of the 1. If all elements
    // are -infinity, then all differ from the bound.
    differs = Step(-x.term + Bounded(maximum) + AtInfinity(maximum));
  }
  const auto n = static_cast<double>(what.n);
  const double first = what.last ? 1 : n, step = what.last ? 1 : -1;
  const Term weights = Sequence(what.n, what.inner, first, step);
  const Term minus = Sequence(what.n, what.inner, -first, -step);
  const Term weight =
      Apply("reduce_max", {differs * minus + weights}, ReduceAttrs{{what.axis}, what.keep_dims});
  const Term found = AtMostOne(weight);
  if (!what.last) return Times(found, n) - weight;
  const Term index = weight - 1;
  return MayBeInfinite(x) ? index + Times(Complement(found), n) : index;
}

LargestTerms Largest(const Compared& x, const std::vector<int64_t>& dims, int64_t k) {
  const int64_t n = dims.back();
  int64_t outer = 1;
  for (size_t i = 0; i + 1 < dims.size(); ++i) outer *= dims[i];
  const Compared rows{Shaped(x.term, dims, {outer, n, 1}), x.range, x.whole};
  const Compared columns{Shaped(x.term, dims, {outer, 1, n}), x.range, x.whole};
  // The rank of element i is the number of elements j that are larger, or equal and before it.
  std::vector<float> is_before;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) is_before.push_back(j < i ? 1.0f : 0.0f);
  const Term before = Tensor::Of({1, n, n}, is_before);
  const Term rank = ReduceSum(AtMostOne(Relu(Order(columns, rows) + before)), {2}, true);
  const Term is_place = Complement(IsNonzero(Unit(rank + Sequence(k, 0, 0, -1))));
  const Term indices = ReduceSum(is_place * Sequence(n, 1, 0, 1), {1}, false);
  return {OnlyElement(rows, is_place, 1), indices};
}

Term RowsAt(const RowSource& source, const Term& indices, const std::vector<int64_t>& dims) {
  const auto elements_of = [](const std::vector<int64_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  };
  const int64_t rows = source.rows, columns = elements_of(source.dims) / rows;
  const Term column = Shaped(indices, dims, {elements_of(dims), 1, 1});
  const Term is_row = Complement(IsNonzero(Unit(column + Sequence(rows, 1, 0, -1))));
  const Compared& x = source.data;
  return OnlyElement({Shaped(x.term, source.dims, {1, rows, columns}), x.range, x.whole}, is_row,
                     1);
}

// The product with the reciprocal is off by a few units, and the rest tells by how many.
WholeQuotient Divided(Term x, Term y, Term inverse) {
  Term quotient = Floor(x * inverse);
  Term rest = x - quotient * y;
  const Term more = Floor(rest * inverse);
  quotient = quotient + more;
  rest = rest - more * y;
  // The error is at most 1 now.
  const Term one = AtMostOne(Relu(rest - y + 1)) - AtMostOne(Relu(-rest));
  return {quotient + one, rest - one * y};
}

}  // namespace nn::nnapi
