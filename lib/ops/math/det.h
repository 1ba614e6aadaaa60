// det(x): the determinants of the square matrices in the last two axes of x; y has the other axes.
//
// Elimination with partial pivoting. Column by column, the row of the largest absolute value, the
// first of several and NaN above all others, is exchanged with the first row that is left. The
// rows below become row - l * pivot row, with l = element / pivot; products and differences round
// each. The determinant is the product of the pivots in order, starting at 1 and negated by each
// exchange; it is 0 if a pivot is. Computed in float32, or double for f64. The determinant of a
// matrix without elements is 1.
//
// inverse(x): the inverses of these matrices, in the same places. The identity is appended to the
// columns of each matrix. Column by column, the row of the pivot, chosen as for det, is exchanged
// and divided by the pivot, and its multiple is subtracted from all other rows, above and below;
// quotients, products and differences round each. All elements are NaN if a pivot is 0.
#pragma once
