// Scalars of a type known at run time.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "ir/tensor.h"
#include "ir/types/dtype.h"

namespace nn {

// A scalar of a type of numbers or bool. Integers and bool: `v` is whole.
inline Result<Tensor> Number(DType dtype, double v) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, {}));
  if (IsFloat(dtype))
    b.SetDouble(0, v);
  else
    b.SetInt(0, static_cast<int64_t>(v));
  return b.Finish();
}

}  // namespace nn
