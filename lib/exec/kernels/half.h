// Conversion of rows of float32 from and to float16 and bfloat16, as base/half.h does element by
// element.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn {

void RunWidenF16(const uint16_t* x, float* y, size_t n);
void RunWidenBf16(const uint16_t* x, float* y, size_t n);
void RunNarrowF16(const float* x, uint16_t* y, size_t n);
void RunNarrowBf16(const float* x, uint16_t* y, size_t n);

}  // namespace nn
