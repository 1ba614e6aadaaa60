// The bounds of the elements of tensors.
#pragma once

#include <optional>

#include "ir/interval.h"
#include "ir/tensor.h"

namespace nn {

// The smallest and the largest element of a tensor of numbers, as doubles; nullopt if it has no
// elements, or if one is NaN. Reads each element once.
std::optional<Interval> BoundsOf(const Tensor& tensor);

}  // namespace nn
