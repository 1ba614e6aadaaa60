// Comparisons, selections, orders and integer division as formulas of float32, in which 1 is true
// and 0 is false. They hold for infinities and zeros of either sign, but not for NaN.
#pragma once

#include <cstdint>
#include <vector>

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
Term Complement(Term condition);

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

// The k largest elements along the last axis of x, [outer, k] for all axes before it, and their
// indices: equal ones in order.
struct LargestTerms {
  Term values, indices;
};
LargestTerms Largest(const Compared& x, const std::vector<int64_t>& dims, int64_t k);

// The rows of data at computed indices, which must be in range: [indices, elements of a row]. A row
// has the elements after the first axes, `rows` in all.
struct RowSource {
  Compared data;
  std::vector<int64_t> dims;
  int64_t rows = 1;
};
Term RowsAt(const RowSource& source, const Term& indices, const std::vector<int64_t>& dims);

// The quotient of integers by y > 0, rounded down, and the rest. `inverse` is the reciprocal of y,
// rounded; the quotient times y must be exact, and so must numbers that are larger by a few y.
struct WholeQuotient {
  Term quotient, rest;
};
WholeQuotient Divided(Term x, Term y, Term inverse);

}  // namespace nn::nnapi
