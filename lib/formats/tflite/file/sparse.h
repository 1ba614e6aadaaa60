// Sparse constants (SparsityParameters): in dense form, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/tflite/file/native.h"
#include "ir/tensor.h"

namespace nn::tflite {

// The dense tensor of shape `dims`, at most 256 MiB (kLimit beyond that). `values` are the stored
// elements. kModel if the parameters do not match the shape or each other.
Result<Tensor> ReadSparse(const fb::SparsityParameters& sparsity, DType dtype,
                          const std::vector<int64_t>& dims, const Blob& values);

// The elements that the parameters store of a dense tensor, in their order; nullopt if they are for
// another shape, or if the other elements are not all zero.
std::optional<Blob> StoredValues(const fb::SparsityParameters& sparsity, const Tensor& dense);

// A copy of the parameters in another flatbuffer.
flatbuffers::Offset<fb::SparsityParameters> CopySparsity(const fb::SparsityParameters& sparsity,
                                                         flatbuffers::FlatBufferBuilder& builder);

}  // namespace nn::tflite
