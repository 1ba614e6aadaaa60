// Sets the smallest numbers of a tensor to zero.
#pragma once

#include "base/status.h"
#include "ir/tensor.h"

namespace nn {

// The f32 tensor with this part of its numbers, those of the smallest magnitudes, replaced by 0; of
// equal magnitudes, the first ones. `part`: above 0 and below 1. The numbers are finite.
Result<Tensor> Pruned(const Tensor& tensor, double part);

}  // namespace nn
