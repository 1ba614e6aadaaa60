#pragma once

#include <string>

#include "ir/tensor.h"

namespace nn {

// An entry of a file of tensors.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace nn
