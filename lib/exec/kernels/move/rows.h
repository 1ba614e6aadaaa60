// Elementwise operators on rows of integers, bool and mixed types.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "ir/types/dtype.h"

namespace nn {

// Up to three operands of n elements, or of one element that applies to the whole row.
struct RowOperands {
  std::array<const std::byte*, 3> in{};
  std::array<bool, 3> scalar{};
  std::byte* out = nullptr;
  size_t n = 0;
};
using RowFn = void (*)(const RowOperands&);

// The function of an operator of one or two operands of type x with a result of type y; null if
// there is none.
RowFn FindRowFn(std::string_view op, DType x, DType y);
// condition ? a : b for elements of 1, 2, 4, 8 or 16 bytes; null for others.
RowFn FindSelectFn(size_t element);

}  // namespace nn
