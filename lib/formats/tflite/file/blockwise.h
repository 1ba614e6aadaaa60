// Weights with blockwise quantization: scales in another tensor, each for `block_size` elements of
// the last axis.
#pragma once

#include <memory>

#include "base/status.h"
#include "formats/tflite/file/native.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn::tflite {

bool IsBlockwise(const fb::Tensor& tensor);

// A matrix with a row for each block, which thereby has a scale per row.
struct Blocks {
  Tensor integers;
  std::shared_ptr<const Quant> quant;
  Dims dims;  // of the tensor
};

// The contents of a constant tensor with blockwise quantization. kModel if the scales do not match
// the tensor, kUnsupported for zero points other than 0, which the kernels ignore.
Result<Blocks> ReadBlocks(const Model& model, const fb::SubGraph& subgraph,
                          const fb::Tensor& tensor);

}  // namespace nn::tflite
