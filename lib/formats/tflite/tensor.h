// TensorFlow Lite tensors to and from ours.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "formats/tflite/native.h"
#include "ir/tensor.h"
#include "ir/type.h"

namespace nn::tflite {

// kUnknown for RESOURCE, VARIANT and numbers that TensorType does not have.
DType DTypeOf(fb::TensorType type);
// nullopt where there is none.
std::optional<fb::TensorType> TensorTypeOf(DType dtype);
// "FLOAT32", or the number where there is no name.
std::string TensorTypeName(fb::TensorType type);

// What the tensor declares. Sizes that it does not know get symbols: `prefix` and the axis number;
// unknown ranks stay unknown. kModel for negative sizes or quantisation parameters that contradict
// one another, kUnsupported for quantisation by blocks or by rules of its own.
Result<Type> ReadType(const fb::Tensor& tensor, const std::string& prefix);

// Whether the file has contents for the tensor.
Result<bool> HasContents(const Model& model, const fb::Tensor& tensor);

// The contents, of the declared type and shape; plain data stay a view of the file. kModel if the
// bytes are not what they need.
Result<Tensor> ReadContents(const Model& model, const fb::Tensor& tensor);

// The bytes of a tensor of strings: their number, where each begins and the last ends, the text;
// the numbers are of 32 bits.
Result<Blob> PackStrings(const std::vector<std::string>& strings);

}  // namespace nn::tflite
