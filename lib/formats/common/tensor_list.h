// The contents of an input or output that is a sequence or an optional.
#pragma once

#include <vector>

#include "ir/tensor.h"

namespace nn {

struct TensorList {
  std::vector<Tensor> tensors;
  bool absent = false;  // an optional without a value
};

}  // namespace nn
