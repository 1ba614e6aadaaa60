// Tensors as command-line literals.
//
//   0.5            fills the tensor; also true, false, nan, inf, "text". Integers may be written as
//                  real numbers (3.0) unless they are quantized
//   [1, 2, 3]      the elements in row-major order
//   [[1, 2], [3, 4]]   nested lists that give the shape
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn {

// Whether `text` is a literal as above rather than a file name.
bool LooksLikeLiteral(std::string_view text);

// Parses a tensor of type `type`. A list must be flat or have the declared shape; unknown
// dimensions are taken from the list. kUsage if the count, shape or values do not match, or if a
// single value is given for an unknown shape.
Result<Tensor> ParseLiteral(std::string_view text, const Type& type);

// The literal that ParseLiteral() reads as these numbers or booleans for a type of their shape: one
// value if all are equal, else a flat list.
std::string LiteralOf(const Tensor& tensor);

}  // namespace nn
