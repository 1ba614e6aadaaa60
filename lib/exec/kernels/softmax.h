// Softmax of float32.
#pragma once

#include <cstddef>

namespace nn {

// softmax, or log_softmax (with beta 1), of `rows` rows of n neighboring elements, one row after
// the other. y must not alias x.
void SoftmaxRowsF32(const float* x, float* y, size_t rows, size_t n, float beta, bool logarithm);

// y[i] = exp((x[i] - shift[i]) * beta); y may alias x.
void RunExpOfDifferencesF32(const float* x, const float* shift, float beta, float* y, size_t n);

}  // namespace nn
