#pragma once

#include <string>

#include "ir/tensor.h"

namespace nn {

// An entry of a tensor archive.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace nn
