// Exponentials of softmax.
#pragma once

#include <cstddef>

namespace nn {

// y[i] = exp((x[i] - shift[i]) * beta); without `each` shift[0] serves all. y may be x.
void RunExpOfDifferencesF32(const float* x, const float* shift, bool each, float beta, float* y,
                            size_t n);

}  // namespace nn
