// Tensors written on a command line.
//
//   0.5            every element; also true, false, nan, inf, "text"
//   [1, 2, 3]      the elements in row-major order
//   [[1, 2], [3, 4]]   the same with a shape
#pragma once

#include <string_view>

#include "base/status.h"
#include "ir/tensor.h"
#include "ir/type.h"

namespace nn {

// True if `text` is a list or a single value as above, rather than a file name.
bool LooksLikeLiteral(std::string_view text);

// A tensor of type `type`. A list must be flat or have the shape, as far as that is known; where it
// is not, the list's own shape is taken. kUsage if count, shape or values do not fit, or if a
// single value is to fill an unknown shape.
Result<Tensor> ParseLiteral(std::string_view text, const Type& type);

}  // namespace nn
