// Permutations of constants.
#pragma once

#include "base/status.h"
#include "ir/tensor.h"
#include "ir/types/axis_map.h"

namespace nn {

// Smaller tensors are permuted at once.
inline constexpr size_t kDeferredPermutationBytes = size_t{1} << 20;

// RearrangeTensor() for a tensor whose bytes never change. A large result is a deferred blob, so
// that writing a file needs no memory for permuted weights.
Result<Tensor> RearrangeConstant(const Tensor& tensor, const AxisMap& map);

}  // namespace nn
