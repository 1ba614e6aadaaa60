// Weights in blocks (ops/quant/block_weights.h) as three tensors, which formats have that
// dequantize a tensor in blocks along an axis.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/tensor.h"

namespace nn {

struct BlockedTensor {
  Tensor integers, scales;
  std::optional<Tensor> zeros;  // of the type of the integers; absent: 0
  int64_t axis = 0, block = 0;  // the scales have ceil(size / block) elements along the axis
};

// Nullopt if the source file does not have the tensor in blocks along one axis.
std::optional<BlockedTensor> BlocksAlongAxis(const Tensor& tensor);
// The same without the integers.
std::optional<BlockedTensor> ScalesAlongAxis(const Tensor& tensor);

}  // namespace nn
