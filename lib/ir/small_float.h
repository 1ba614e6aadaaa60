// Floating-point types of 8 bits and fewer, by ONNX's definitions of FLOAT8E4M3FN, FLOAT8E4M3FNUZ,
// FLOAT8E5M2, FLOAT8E5M2FNUZ, FLOAT8E8M0 and FLOAT4E2M1.
#pragma once

#include <cstdint>

#include "ir/dtype.h"

namespace nn {

// `type` is one of the types above; `bits` holds the value in its lowest bits.
float SmallFloatToFloat(DType type, uint8_t bits);

// Rounds to nearest even; out of range saturates to the largest finite value (ONNX Cast,
// saturate = 1), NaN stays NaN where the type has one.
uint8_t FloatToSmallFloat(DType type, float value);

}  // namespace nn
