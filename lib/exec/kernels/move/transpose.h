// Transposition of matrices of 1-, 2-, 4- and 8-byte elements.
#pragma once

#include <cstddef>

namespace nn {

// out[c * out_stride + r] = in[r * in_stride + c] for r < rows, c < columns. Strides in elements;
// `element` is the size of one in bytes, 1, 2, 4 or 8 (16 too, copied one by one).
void TransposeMatrix(const std::byte* in, size_t in_stride, std::byte* out, size_t out_stride,
                     size_t rows, size_t columns, size_t element);

}  // namespace nn
