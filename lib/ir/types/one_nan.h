// The one NaN of a type: quiet, without sign and payload. The bits of a NaN that an operator
// computes depend on the backend and the processor, so they are replaced wherever they could be
// seen.
#pragma once

#include <cstddef>

#include "ir/types/dtype.h"

namespace nn {

// Whether the type has NaN.
bool HasNan(DType dtype);

// Replaces every NaN among `n` elements by the one NaN, of complex numbers in each part.
void SetOneNan(DType dtype, std::byte* data, size_t n);

}  // namespace nn
