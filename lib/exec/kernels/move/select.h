// Choosing between two rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn {

// y[i] = condition[i] != 0 ? a[i] : b[i]; element 0 of a scalar operand applies to all.
void RunSelect32(const uint8_t* condition, const uint32_t* a, bool a_scalar, const uint32_t* b,
                 bool b_scalar, uint32_t* y, size_t n);

}  // namespace nn
