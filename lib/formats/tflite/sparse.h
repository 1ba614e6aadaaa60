// Sparse constants (SparsityParameters), in dense form.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/tflite/native.h"
#include "ir/tensor.h"

namespace nn::tflite {

// The dense tensor of shape `dims`, at most 256 MiB (kLimit beyond that). `values` are the stored
// elements. kModel if the parameters do not match the shape or each other.
Result<Tensor> ReadSparse(const fb::SparsityParameters& sparsity, DType dtype,
                          const std::vector<int64_t>& dims, const Blob& values);

}  // namespace nn::tflite
