// Tensors in separate protobuf files, as in ONNX test data sets (input_0.pb). Free of generated
// code.
#pragma once

#include <string>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "formats/common/tensor_list.h"
#include "ir/tensor.h"

namespace nn::onnx {

// The TensorProto in `file`; external data is beside `path`. kParse if it is not a TensorProto,
// kUnsupported for a SequenceProto or OptionalProto.
Result<Tensor> ReadTensorProto(const Blob& file, const std::string& path);

// The same for a SequenceProto and an OptionalProto. kUnsupported for elements that are not
// tensors; an optional may have a sequence.
Result<TensorList> ReadSequenceProto(const Blob& file, const std::string& path);
Result<TensorList> ReadOptionalProto(const Blob& file, const std::string& path);

// The inverse: the bytes of a TensorProto file, data in raw_data (strings in string_data).
Result<std::vector<Blob>> TensorProtoImage(const Tensor& tensor, const std::string& name);

}  // namespace nn::onnx
