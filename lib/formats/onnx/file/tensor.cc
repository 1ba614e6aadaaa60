#include "formats/onnx/file/tensor.h"

#include <bit>
#include <cstring>

#include "base/checked_math.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/onnx/file/external.h"

namespace nn::onnx {
namespace {

struct TypeRow {
  pb::TensorProto::DataType onnx;
  DType dtype;
};

constexpr TypeRow kTypes[] = {
    {pb::TensorProto::FLOAT, DType::kF32},
    {pb::TensorProto::UINT8, DType::kU8},
    {pb::TensorProto::INT8, DType::kI8},
    {pb::TensorProto::UINT16, DType::kU16},
    {pb::TensorProto::INT16, DType::kI16},
    {pb::TensorProto::INT32, DType::kI32},
    {pb::TensorProto::INT64, DType::kI64},
    {pb::TensorProto::STRING, DType::kString},
    {pb::TensorProto::BOOL, DType::kBool},
    {pb::TensorProto::FLOAT16, DType::kF16},
    {pb::TensorProto::DOUBLE, DType::kF64},
    {pb::TensorProto::UINT32, DType::kU32},
    {pb::TensorProto::UINT64, DType::kU64},
    {pb::TensorProto::COMPLEX64, DType::kC64},
    {pb::TensorProto::COMPLEX128, DType::kC128},
    {pb::TensorProto::BFLOAT16, DType::kBF16},
    {pb::TensorProto::FLOAT8E4M3FN, DType::kF8E4M3FN},
    {pb::TensorProto::FLOAT8E4M3FNUZ, DType::kF8E4M3FNUZ},
    {pb::TensorProto::FLOAT8E5M2, DType::kF8E5M2},
    {pb::TensorProto::FLOAT8E5M2FNUZ, DType::kF8E5M2FNUZ},
    {pb::TensorProto::UINT4, DType::kU4},
    {pb::TensorProto::INT4, DType::kI4},
    {pb::TensorProto::FLOAT4E2M1, DType::kF4E2M1},
    {pb::TensorProto::FLOAT8E8M0, DType::kF8E8M0},
    {pb::TensorProto::UINT2, DType::kU2},
    {pb::TensorProto::INT2, DType::kI2},
};

Result<Blob> ReadExternal(const pb::TensorProto& tensor, const Model& model, uint64_t need) {
  NN_ASSIGN(const ExternalRange range, ReadExternalRange(tensor));
  NN_ASSIGN(const Blob file, model.files.Read(range.location));
  const uint64_t length = range.length.value_or(need);
  if (!InRange(range.offset, length, file.size()))
    return ModelError("external data: bytes {} to {} are outside {} ({} bytes)", range.offset,
                      range.offset + length, Quote(range.location), file.size());
  return file.Slice(range.offset, length);
}

// Narrows the values of a typed field to the tensor's element type. For types under 8 bits, a value
// is one packed byte.
template <typename To, typename Field>
Blob Narrow(const Field& values) {
  std::vector<To> out;
  out.reserve(static_cast<size_t>(values.size()));
  for (const auto v : values) out.push_back(static_cast<To>(v));
  return Blob::CopyOf(out);
}

// An array field: from the payloads, or copied from the message.
template <typename T, typename Field>
Blob Array(const pb::TensorProto& tensor, const Model& model, int number, const Field& values) {
  if (auto blob = model.payloads.Find(tensor, number)) return *blob;
  return Narrow<T>(values);
}

Result<Blob> TypedData(const pb::TensorProto& t, const Model& model, DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kC64:
      return Array<float>(t, model, pb::TensorProto::kFloatDataFieldNumber, t.float_data());
    case DType::kF64:
    case DType::kC128:
      return Array<double>(t, model, pb::TensorProto::kDoubleDataFieldNumber, t.double_data());
    case DType::kI64:
      return Narrow<int64_t>(t.int64_data());
    case DType::kU64:
      return Narrow<uint64_t>(t.uint64_data());
    case DType::kU32:
      return Narrow<uint32_t>(t.uint64_data());
    case DType::kI32:
      return Narrow<int32_t>(t.int32_data());
    default:
      break;
  }
  // All others are stored in int32_data.
  return DTypeBits(dtype) == 16 ? Narrow<uint16_t>(t.int32_data())
                                : Narrow<uint8_t>(t.int32_data());
}

}  // namespace

DType DTypeOf(int data_type) {
  for (const TypeRow& row : kTypes)
    if (row.onnx == data_type) return row.dtype;
  return DType::kUnknown;
}

int DataTypeOf(DType dtype) {
  for (const TypeRow& row : kTypes)
    if (row.dtype == dtype) return row.onnx;
  return pb::TensorProto::UNDEFINED;
}

std::string DataTypeName(int data_type) {
  return pb::TensorProto::DataType_IsValid(data_type)
             ? pb::TensorProto::DataType_Name(static_cast<pb::TensorProto::DataType>(data_type))
             : fmt::format("data type {}", data_type);
}

Result<Tensor> ReadTensor(const pb::TensorProto& t, const Model& model) {
  const std::string who = t.name().empty() ? "tensor" : "tensor " + Quote(t.name());
  const auto fail = [&](const Error& e) { return tl::unexpected(e.In(who)); };
  const DType dtype = DTypeOf(t.data_type());
  if (dtype == DType::kUnknown)
    return ModelError("{}: {} is not a supported element type", who, DataTypeName(t.data_type()));
  if (t.has_segment()) return UnsupportedError("{}: segmented tensors are unsupported", who);
  const std::vector<int64_t> dims(t.dims().begin(), t.dims().end());
  const auto elements = CheckedElements(dims);
  if (!elements) return ModelError("{}: the shape is negative or overflows", who);
  if (dtype == DType::kString) {
    std::vector<std::string> strings(t.string_data().begin(), t.string_data().end());
    if (static_cast<int64_t>(strings.size()) != *elements)
      return ModelError("{}: {} strings for {} elements", who, strings.size(), *elements);
    return Tensor(dims, std::move(strings));
  }
  Blob blob;
  if (t.data_location() == pb::TensorProto::EXTERNAL) {
    auto external = ReadExternal(t, model, ByteSize(dtype, *elements));
    if (!external) return fail(external.error());
    blob = *external;
  } else if (auto raw = model.payloads.Find(t, pb::TensorProto::kRawDataFieldNumber)) {
    blob = *raw;
  } else if (t.has_raw_data()) {
    blob = Blob::Copy(std::as_bytes(std::span(t.raw_data())));
  } else {
    auto typed = TypedData(t, model, dtype);
    if (!typed) return fail(typed.error());
    blob = *typed;
  }
  auto tensor = Tensor::Make(dtype, dims, std::move(blob));
  if (!tensor) return fail(tensor.error());
  return tensor;
}

Result<Tensor> ReadSparseTensor(const pb::SparseTensorProto& t, const Model& model) {
  // Limit of ONNX: bytes of a sparse tensor as a dense one, with at least 8 bytes for each element.
  constexpr uint64_t kMaxDenseBytes = uint64_t{256} << 20;
  const std::string who = "sparse tensor " + Quote(t.values().name());
  NN_ASSIGN(const Tensor values, ReadTensor(t.values(), model));
  NN_ASSIGN(const Tensor indices, ReadTensor(t.indices(), model));
  const std::vector<int64_t> dims(t.dims().begin(), t.dims().end());
  const auto elements = CheckedElements(dims);
  const int64_t n = values.elements();
  const auto rank = static_cast<int64_t>(dims.size());
  if (!elements) return ModelError("{}: the shape is negative or overflows", who);
  if (values.rank() != 1 || indices.dtype() != DType::kI64)
    return ModelError("{}: the values must be a vector and the indices INT64", who);
  const bool flat = indices.dims() == std::vector{n};
  if (!flat && indices.dims() != std::vector{n, rank})
    return ModelError("{}: the indices have shape {} for {} values of rank {}", who,
                      ToString(ToDims(indices.dims())), n, rank);
  const uint64_t element_size = std::max(DTypeBits(values.dtype()), 64) / 8;
  if (static_cast<uint64_t>(*elements) > kMaxDenseBytes / element_size)
    return LimitError("{}: {} elements are too many for a dense tensor", who, *elements);
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(values.dtype(), dims));
  std::memset(out.data(), 0, ByteSize(values.dtype(), *elements));
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < (flat ? 1 : rank); ++d) {
      const int64_t size = flat ? *elements : dims[static_cast<size_t>(d)];
      const int64_t index = indices.GetInt(flat ? i : i * rank + d);
      if (index < 0 || index >= size)
        return ModelError("{}: index {} is out of range for an axis of size {}", who, index, size);
      at = at * size + index;
    }
    out.Copy(at, values, i);
  }
  return out.Finish();
}

void WriteTensor(const Tensor& tensor, const std::string& name, pb::TensorProto* out,
                 PayloadTable& payloads) {
  if (!name.empty()) out->set_name(name);
  out->set_data_type(DataTypeOf(tensor.dtype()));
  for (const int64_t d : tensor.dims()) out->add_dims(d);
  if (tensor.dtype() == DType::kString) {
    for (const std::string& s : tensor.strings()) out->add_string_data(s);
  } else {
    SetRawData(tensor, out, payloads);
  }
}

void SetRawData(const Tensor& tensor, pb::TensorProto* out, PayloadTable& payloads) {
  if (tensor.byte_size() < PayloadLimits{}.threshold)
    out->set_raw_data(tensor.blob().data(), tensor.byte_size());
  else
    payloads.Attach(out, pb::TensorProto::kRawDataFieldNumber, tensor.blob());
}

Type ReadType(const pb::TypeProto& type, const std::string& prefix) {
  Type out;
  if (!type.has_tensor_type()) return out;
  const auto& tensor = type.tensor_type();
  out.dtype = DTypeOf(tensor.elem_type());
  if (!tensor.has_shape()) return out;
  Dims dims;
  for (int i = 0; i < tensor.shape().dim_size(); ++i) {
    const auto& d = tensor.shape().dim(i);
    if (d.has_dim_value() && d.dim_value() >= 0)
      dims.emplace_back(d.dim_value());
    else if (d.has_dim_param() && !d.dim_param().empty() && !d.dim_param().starts_with('?'))
      dims.push_back(Dim::Symbol(d.dim_param()));
    else  // Paddle2ONNX writes "?" for each size that it does not know.
      dims.push_back(Dim::Symbol(fmt::format("{}.{}", prefix, i)));
  }
  out.dims = std::move(dims);
  return out;
}

void WriteType(const Type& type, pb::TypeProto* out) {
  auto* tensor = out->mutable_tensor_type();
  tensor->set_elem_type(DataTypeOf(type.dtype));
  if (!type.dims) return;
  auto* shape = tensor->mutable_shape();
  for (const Dim& d : *type.dims) {
    auto* dim = shape->add_dim();
    if (d.is_const())
      dim->set_dim_value(d.value());
    else if (const auto symbol = d.symbol(); symbol && !symbol->starts_with('?'))
      dim->set_dim_param(std::string(*symbol));
    else if (const std::string text = d.ToString(); text.find("'?") == std::string::npos)
      dim->set_dim_param(text);
  }
}

}  // namespace nn::onnx
