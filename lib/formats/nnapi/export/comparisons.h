// Comparisons, selections, orders and integer division as formulas of float32, in which 1 is true
// and 0 is false. They hold for infinities and zeros of either sign, but not for NaN.
#pragma once

#include <cstdint>

#include "formats/nnapi/export/terms.h"
#include "ir/interval.h"

namespace nn::nnapi {

// A float32 operand.
struct Compared {
  Term term;
  Interval range;
  bool whole = false;  // all elements are integers that float32 represents exactly
};

// The sign of a - b.
Term Order(const Compared& a, const Compared& b);
// Whether an order is positive, or not 0.
Term IsPositive(Term order);
Term IsNonzero(Term order);
Term Not(Term condition);

// The elements of `a` where the condition is true, and of `b` elsewhere.
Term Selected(Term condition, const Compared& a, const Compared& b);

// The index of the first or last maximum along an axis of n elements, which has `inner` dimensions
// after it.
struct IndexOfMaximum {
  int64_t axis = 0;
  int64_t n = 1;
  int inner = 0;
  bool last = false;
  bool keep_dims = true;
};
Term Index(const Compared& x, const IndexOfMaximum& what);

// The k largest elements of each row of x [outer, n], and their indices: equal ones in order.
struct LargestTerms {
  Term values, indices;
};
LargestTerms Largest(const Compared& x, int64_t outer, int64_t n, int64_t k);

// The rows of data [rows, columns] at computed indices [count], which must be in range.
Term RowsAt(const Compared& data, int64_t rows, int64_t columns, Term indices, int64_t count);

// The quotient of integers by y > 0, rounded down, and the rest. `inverse` is the reciprocal of y,
// rounded; the quotient times y must be exact, and so must numbers that are larger by a few y.
struct WholeQuotient {
  Term quotient, rest;
};
WholeQuotient Divided(Term x, Term y, Term inverse);

}  // namespace nn::nnapi
