// Floating-point types of at most 8 bits, as ONNX defines FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2,
// FLOAT8E5M2FNUZ, FLOAT8E8M0 and FLOAT4E2M1.
#pragma once

#include <cstdint>

#include "ir/types/dtype.h"

namespace nn {

// Requires one of the types above; `bits` holds the value in its lowest bits.
float SmallFloatToFloat(DType type, uint8_t bits);

// Rounds to nearest even; NaN stays NaN if the type has one. Out-of-range values become the largest
// finite value or, without `saturate`, infinity if the type has it, else NaN (ONNX Cast).
uint8_t FloatToSmallFloat(DType type, float value, bool saturate = true);

}  // namespace nn
