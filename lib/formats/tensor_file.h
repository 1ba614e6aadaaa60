// Tensors from files of any supported type.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "formats/common/tensor_list.h"
#include "ir/tensor.h"
#include "ir/types/type.h"
#include "tensorio/named_tensor.h"

namespace nn {

// Whether the extension is one of a file with one tensor: .npy, .pb, .bin or .raw.
bool IsTensorPath(std::string_view path);
// Of these, whether the file states the type and the shape of the tensor: .npy or .pb.
bool IsTypedTensorPath(std::string_view path);

// The tensor in a file: .npy (identified by its first bytes), an ONNX TensorProto (.pb), or the raw
// bytes of the elements in the layout of Tensor (.bin, .raw) with the shape of `type`. Integer
// arrays that represent the element type of `type` are converted to it, see DecodeStored().
// Otherwise shape and type are those of the file, regardless of `type`.
Result<Tensor> ReadTensorFile(const std::string& path, const Type& type);

// Writes one tensor: an ONNX TensorProto of its name if the path ends with .pb, else .npy.
Status WriteTensorFile(const std::string& path, const NamedTensor& tensor);

// The tensors of a file with an ONNX SequenceProto, or an OptionalProto, whose value is one tensor
// or a sequence. Only the type of the value tells which one a file has.
Result<TensorList> ReadSequenceFile(const std::string& path);
Result<TensorList> ReadOptionalFile(const std::string& path);

}  // namespace nn
