// Reductions in the order of the arithmetic contract (ops/reduce/reduction.h): element i goes to
// lane i mod 16, then halves are combined.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn {

// The reduction of the elements x of a row. Maximum and minimum are NaN if any element is NaN, and
// +0 if they are zero of either sign.
enum class RowReduction : uint8_t {
  kSum,
  kSumOfSquares,
  kSumOfMagnitudes,
  kProduct,
  kMax,
  kMin,
  kLargest,  // kMax, but a zero has the sign of one of the zeros
};

// y[c] = the reduction of x[offsets[0] + c], x[offsets[1] + c], ... for c < columns.
void ReduceColumnsF32(RowReduction reduction, const float* x, const int64_t* offsets, size_t n,
                      float* y, size_t columns);

// y[r] = the reduction of x[r * stride], ..., x[r * stride + n - 1] for r < rows.
void ReduceRowsF32(RowReduction reduction, const float* x, size_t stride, size_t rows, size_t n,
                   float* y);

// y[c] = the sum of the 8-bit integers x[offsets[i] + c]. At most 2^23 terms.
void SumColumns8(bool is_signed, const uint8_t* x, const int64_t* offsets, size_t n, int32_t* y,
                 size_t columns);

}  // namespace nn
