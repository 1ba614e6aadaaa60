// Quantizes a tensor to a lookup table.
#pragma once

#include <vector>

#include "base/status.h"
#include "ir/tensor.h"

namespace nn {

// The f32 tensor with each number replaced by the nearest of at most 2^bits numbers, which are
// chosen for a small squared error (k-means in one dimension). Its numbers are finite.
Result<Tensor> Palettized(const Tensor& tensor, int bits);

}  // namespace nn
