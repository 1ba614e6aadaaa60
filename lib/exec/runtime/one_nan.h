// The one NaN of outputs.
#pragma once

#include "ir/tensor.h"

namespace nn {

// Replaces every NaN by the quiet NaN of its type without sign and payload, of complex numbers in
// each part. The bits of a NaN that an operator computes depend on the backend and the processor.
void SetOneNan(TensorBuilder& tensor);

// Whether the type has NaN.
bool HasNan(DType dtype);

}  // namespace nn
