// Conversion between TensorFlow Lite tensors and Tensor.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "formats/tflite/file/native.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn::tflite {

// kUnknown for RESOURCE, VARIANT and values not in TensorType.
DType DTypeOf(fb::TensorType type);
// nullopt where there is none.
std::optional<fb::TensorType> TensorTypeOf(DType dtype);
// "FLOAT32", or the number if unnamed.
std::string TensorTypeName(fb::TensorType type);

// The declared type of the tensor. Unknown sizes get symbols, `prefix` and the axis number; unknown
// ranks remain unknown. kModel for negative sizes or contradictory quantization parameters,
// kUnsupported for blockwise or custom quantization.
Result<Type> ReadType(const fb::Tensor& tensor, const std::string& prefix);

// Whether the file has contents for the tensor.
Result<bool> HasContents(const Model& model, const fb::Tensor& tensor);

// The contents, with the declared type and shape; plain data remain a view of the file. kModel if
// the size does not match.
Result<Tensor> ReadContents(const Model& model, const fb::Tensor& tensor);

// The bytes of a string tensor: the count, the offsets of the strings and of their end (all
// 32-bit), then the text.
Result<Blob> PackStrings(const std::vector<std::string>& strings);

}  // namespace nn::tflite
