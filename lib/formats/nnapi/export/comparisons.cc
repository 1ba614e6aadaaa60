#include "formats/nnapi/export/comparisons.h"

#include <cmath>
#include <limits>
#include <vector>

#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"

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
  return x.Function("clip", ClipAttrs{-kLimit, kLimit});
}
// 1 at infinity, 0 elsewhere.
Term AtInfinity(Term x) {
  return AtMostOne(Relu(x + -kGreatest));
}

Term Sequence(Terms& terms, int64_t n, int inner, double first, double step) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < n; ++i)
    numbers.push_back(static_cast<float>(first + step * static_cast<double>(i)));
  std::vector<int64_t> dims(static_cast<size_t>(inner) + 1, 1);
  dims[0] = n;
  return terms.Of(terms.Constant(Tensor::Of(dims, numbers)));
}

Term Smaller(Term a, Term b) {
  return a.terms().Apply("minimum", {a.value(), b.value()});
}

// Infinity where the condition is true, -infinity elsewhere.
Term Limit(Term condition) {
  const Term yes = InfiniteAt(condition);
  const Term no = InfiniteAt(Not(condition));
  return yes + -no;
}

// The one element along an axis for which the condition is true.
Term OnlyElement(const Compared& x, Term condition, int64_t axis) {
  const ReduceAttrs along{{axis}, false};
  if (!MayBeInfinite(x)) return (x.term * condition).Function("reduce_sum", along);
  return Smaller(x.term, Limit(condition)).Function("reduce_max", along);
}

}  // namespace

Term Order(const Compared& a, const Compared& b) {
  if (a.whole && b.whole) return Unit(a.term + -b.term);
  if (!MayBothBeInfinite(a, b)) return SignOf(a.term + -b.term);
  const auto infinite = [](Term x) {
    const Term positive = AtInfinity(x);
    const Term negative = AtInfinity(-x);
    return positive + -negative;
  };
  const Term left = Bounded(a.term);
  const Term right = Bounded(b.term);
  const Term finite = SignOf(left + -right);
  const Term left_infinite = infinite(a.term);
  const Term right_infinite = infinite(b.term);
  const Term order = left_infinite + -right_infinite;
  return Unit(finite + order);
}

Term IsPositive(Term order) {
  return Relu(order);
}
Term IsNonzero(Term order) {
  return order * order;
}
Term Not(Term condition) {
  return -condition + 1.0;
}

Term Selected(Term condition, const Compared& a, const Compared& b) {
  if (!MayBeInfinite(a) && !MayBeInfinite(b)) {
    const Term from_a = a.term * condition;
    const Term from_b = b.term * Not(condition);
    return from_a + from_b;
  }
  const Term limit = Limit(condition);
  const Term left = Smaller(a.term, limit);
  const Term right = Smaller(b.term, -limit);
  return left.terms().Apply("maximum", {left.value(), right.value()});
}

// The elements equal to the maximum get positive weights, of which the largest is the answer's.
Term Index(const Compared& x, const IndexOfMaximum& what) {
  Terms& terms = x.term.terms();
  const Term maximum = x.term.Function("reduce_max", ReduceAttrs{{what.axis}, true});
  Term differs = maximum + -x.term;
  if (x.whole) {
    differs = AtMostOne(differs);
  } else if (!MayBeInfinite(x)) {
    differs = Step(differs);
  } else {
    // Infinity is below its bound, and the largest number is not, because of the 1. If all elements
    // are -infinity, then all differ from the bound.
    const Term bound = Bounded(maximum);
    const Term at_infinity = AtInfinity(maximum);
    differs = Step(-x.term + bound + at_infinity);
  }
  const auto n = static_cast<double>(what.n);
  const double first = what.last ? 1 : n, step = what.last ? 1 : -1;
  const Term weights = Sequence(terms, what.n, what.inner, first, step);
  const Term minus = Sequence(terms, what.n, what.inner, -first, -step);
  const Term weight =
      (differs * minus + weights).Function("reduce_max", ReduceAttrs{{what.axis}, what.keep_dims});
  const Term found = AtMostOne(weight);
  if (!what.last) {
    const Term end = found * n;
    return end + -weight;
  }
  const Term index = weight + -1.0;
  return MayBeInfinite(x) ? index + Not(found) * n : index;
}

LargestTerms Largest(const Compared& x, int64_t outer, int64_t n, int64_t k) {
  Terms& terms = x.term.terms();
  const auto shaped = [&](const std::vector<int64_t>& dims) {
    return Compared{terms.Shaped(x.term.value(), dims), x.range, x.whole};
  };
  const Compared rows = shaped({outer, n, 1});
  const Compared columns = shaped({outer, 1, n});
  // The rank of element i is the number of elements j that are larger, or equal and before it.
  std::vector<float> is_before;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) is_before.push_back(j < i ? 1.0f : 0.0f);
  const Term before = terms.Of(terms.Constant(Tensor::Of({1, n, n}, is_before)));
  const Term rank =
      AtMostOne(Relu(Order(columns, rows) + before)).Function("reduce_sum", ReduceAttrs{{2}, true});
  const Term places = Sequence(terms, k, 0, 0, -1);
  const Term is_place = Not(IsNonzero(Unit(rank + places)));
  const Term numbers = Sequence(terms, n, 1, 0, 1);
  const Term indices = (is_place * numbers).Function("reduce_sum", ReduceAttrs{{1}, false});
  return {OnlyElement(rows, is_place, 1), indices};
}

Term RowsAt(const Compared& data, int64_t rows, int64_t columns, Term indices, int64_t count) {
  Terms& terms = indices.terms();
  const Term column = terms.Shaped(indices.value(), {count, 1, 1});
  const Term numbers = Sequence(terms, rows, 1, 0, -1);
  const Term is_row = Not(IsNonzero(Unit(column + numbers)));
  const Compared all{terms.Shaped(data.term.value(), {1, rows, columns}), data.range, data.whole};
  return OnlyElement(all, is_row, 1);
}

// The product with the reciprocal is off by a few units, and the rest tells by how many.
WholeQuotient Divided(Term x, Term y, Term inverse) {
  Term quotient = (x * inverse).Function("floor");
  Term rest = x + -(quotient * y);
  const Term more = (rest * inverse).Function("floor");
  quotient = quotient + more;
  rest = rest + -(more * y);
  // The error is at most 1 now.
  const Term one = AtMostOne(Relu(rest + -y + 1.0)) + -AtMostOne(Relu(-rest));
  return {quotient + one, rest + -(one * y)};
}

}  // namespace nn::nnapi
