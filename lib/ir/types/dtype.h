// Element types of tensors.
#pragma once

#include <cstdint>

#include "nnsuite/dtype.h"

namespace nn {

using nnsuite::DType;
using nnsuite::DTypeBits;
using nnsuite::DTypeName;
using nnsuite::kDTypeCount;
using nnsuite::kDTypeOf;
using nnsuite::ParseDType;

bool IsFloat(DType type);    // real floating point, of any width
bool IsInteger(DType type);  // signed or unsigned integer, bool excluded
bool IsSigned(DType type);   // signed integer
bool IsComplex(DType type);

// Range of an integer type; (0, 1) for bool.
int64_t MinInteger(DType type);
int64_t MaxInteger(DType type);  // INT64_MAX for u64

}  // namespace nn
