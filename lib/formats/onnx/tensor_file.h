// Tensors in protobuf files of their own, as ONNX test data sets have them (input_0.pb). Free of
// generated code.
#pragma once

#include <string>
#include <vector>

#include "base/blob.h"
#include "base/status.h"
#include "ir/tensor.h"

namespace nn::onnx {

// The TensorProto in `file`; external data lie beside `path`. kParse if it is none, kUnsupported
// for a SequenceProto or OptionalProto.
Result<Tensor> ReadTensorProto(const Blob& file, const std::string& path);

// The inverse: the bytes of a TensorProto file, data in raw_data (strings in string_data).
Result<std::vector<Blob>> TensorProtoImage(const Tensor& tensor, const std::string& name);

}  // namespace nn::onnx
