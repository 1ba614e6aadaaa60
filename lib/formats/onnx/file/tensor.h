// Conversion between ONNX tensors and Tensor.
#pragma once

#include "base/status.h"
#include "formats/onnx/file/native.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn::onnx {

// kUnknown for values not in TensorProto.DataType.
DType DTypeOf(int data_type);
// TensorProto.DataType; UNDEFINED for kUnknown.
int DataTypeOf(DType dtype);
// "FLOAT", "INT64", ...
std::string DataTypeName(int data_type);

// The tensor's contents, from raw, typed or external data. raw data remain a view of the file.
// kModel for invalid shapes or sizes; kUnsupported for segments.
Result<Tensor> ReadTensor(const pb::TensorProto& tensor, const Model& model);

// The dense form of a sparse tensor, at most 256 MiB (kLimit beyond that).
Result<Tensor> ReadSparseTensor(const pb::SparseTensorProto& tensor, const Model& model);

// Stores type, shape and data; large data become a reference into `payloads`.
void WriteTensor(const Tensor& tensor, const std::string& name, pb::TensorProto* out,
                 PayloadTable& payloads);
// Stores the data alone as raw_data; not for strings.
void SetRawData(const Tensor& tensor, pb::TensorProto* out, PayloadTable& payloads);

// A tensor type. Dimensions without value get symbols: dim_param, or `prefix` and the axis number.
Type ReadType(const pb::TypeProto& type, const std::string& prefix);
void WriteType(const Type& type, pb::TypeProto* out);

}  // namespace nn::onnx
