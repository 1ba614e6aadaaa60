#include "formats/onnx/file/value_type.h"

#include <fmt/core.h>

#include "formats/onnx/file/tensor.h"

namespace nn::onnx {

namespace {

template <typename TensorType>
Type ReadTensorType(const TensorType& type, const std::string& prefix) {
  pb::TypeProto holder;
  auto* tensor = holder.mutable_tensor_type();
  tensor->set_elem_type(type.elem_type());
  if (type.has_shape()) *tensor->mutable_shape() = type.shape();
  return ReadType(holder, prefix);
}

}  // namespace

ValueType ReadValueType(const pb::TypeProto& type, const std::string& prefix) {
  ValueType out;
  const auto element = [&](const pb::TypeProto& inner) {
    out.element = std::make_shared<const ValueType>(ReadValueType(inner, prefix));
  };
  switch (type.value_case()) {
    case pb::TypeProto::kTensorType:
      return ValueType::Tensor(ReadType(type, prefix));
    case pb::TypeProto::kSparseTensorType:
      out.kind = ValueType::Kind::kSparse;
      out.tensor = ReadTensorType(type.sparse_tensor_type(), prefix);
      break;
    case pb::TypeProto::kSequenceType:
      out.kind = ValueType::Kind::kSequence;
      element(type.sequence_type().elem_type());
      break;
    case pb::TypeProto::kOptionalType:
      out.kind = ValueType::Kind::kOptional;
      element(type.optional_type().elem_type());
      break;
    case pb::TypeProto::kMapType:
      out.kind = ValueType::Kind::kMap;
      out.tensor.dtype = DTypeOf(type.map_type().key_type());
      element(type.map_type().value_type());
      break;
    case pb::TypeProto::kOpaqueType:
      out.kind = ValueType::Kind::kOpaque;
      break;
    default:
      break;
  }
  return out;
}

Agreement Compare(const ValueType& a, const ValueType& b) {
  if (!a.is_known() || !b.is_known()) return Agreement::kAgree;
  if (a.kind != b.kind) return Agreement::kKind;
  if (a.tensor.dtype != DType::kUnknown && b.tensor.dtype != DType::kUnknown &&
      a.tensor.dtype != b.tensor.dtype)
    return Agreement::kElementType;
  if (!Compatible(a.tensor, b.tensor)) return Agreement::kShape;
  return Compare(a.inner(), b.inner());
}

ValueType Refine(const ValueType& preferred, const ValueType& other) {
  if (!preferred.is_known()) return other;
  if (preferred.kind != other.kind) return preferred;
  ValueType out = preferred;
  out.tensor = Refine(preferred.tensor, other.tensor);
  if (preferred.element != nullptr || other.element != nullptr)
    out.element = std::make_shared<const ValueType>(Refine(preferred.inner(), other.inner()));
  return out;
}

Result<ValueType> Union(const ValueType& a, const ValueType& b,
                        const std::function<Dim()>& unknown) {
  if (!a.is_known() || !b.is_known()) return ValueType();
  const Agreement agreement = Compare(WithoutShape(a), WithoutShape(b));
  if (agreement != Agreement::kAgree)
    return ModelError("the types differ: {} and {}", a.ToString(), b.ToString());
  ValueType out = a;
  if (a.tensor.dtype == DType::kUnknown) out.tensor.dtype = b.tensor.dtype;
  if (!a.tensor.dims || !b.tensor.dims || a.tensor.rank() != b.tensor.rank()) {
    out.tensor.dims.reset();
  } else {
    Dims dims = *a.tensor.dims;
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] != (*b.tensor.dims)[i]) dims[i] = unknown();
    out.tensor.dims = std::move(dims);
  }
  if (a.element != nullptr && b.element != nullptr) {
    NN_ASSIGN(ValueType element, Union(*a.element, *b.element, unknown));
    out.element = std::make_shared<const ValueType>(std::move(element));
  }
  return out;
}

ValueType WithoutShape(const ValueType& type) {
  ValueType out = type;
  out.tensor.dims.reset();
  if (type.element != nullptr)
    out.element = std::make_shared<const ValueType>(WithoutShape(*type.element));
  return out;
}

bool IsComplete(const ValueType& type) {
  switch (type.kind) {
    case ValueType::Kind::kUnknown:
      return false;
    case ValueType::Kind::kTensor:
    case ValueType::Kind::kSparse:
      return type.tensor.dtype != DType::kUnknown;
    case ValueType::Kind::kSequence:
    case ValueType::Kind::kOptional:
      return IsComplete(type.inner());
    case ValueType::Kind::kMap:
      return type.tensor.dtype != DType::kUnknown && IsComplete(type.inner());
    case ValueType::Kind::kOpaque:
      return false;
  }
  return false;
}

void WriteValueType(const ValueType& type, pb::TypeProto* out) {
  switch (type.kind) {
    case ValueType::Kind::kTensor:
      return WriteType(type.tensor, out);
    case ValueType::Kind::kSparse: {
      pb::TypeProto dense;
      WriteType(type.tensor, &dense);
      auto* sparse = out->mutable_sparse_tensor_type();
      sparse->set_elem_type(dense.tensor_type().elem_type());
      if (dense.tensor_type().has_shape()) *sparse->mutable_shape() = dense.tensor_type().shape();
      return;
    }
    case ValueType::Kind::kSequence:
      return WriteValueType(type.inner(), out->mutable_sequence_type()->mutable_elem_type());
    case ValueType::Kind::kOptional:
      return WriteValueType(type.inner(), out->mutable_optional_type()->mutable_elem_type());
    case ValueType::Kind::kMap:
      out->mutable_map_type()->set_key_type(DataTypeOf(type.tensor.dtype));
      return WriteValueType(type.inner(), out->mutable_map_type()->mutable_value_type());
    case ValueType::Kind::kUnknown:
    case ValueType::Kind::kOpaque:
      return;
  }
}

bool States(const pb::TypeProto& declared, const ValueType& inferred) {
  const bool has_shape =
      declared.has_tensor_type() ? declared.tensor_type().has_shape() : declared.value_case() != 0;
  return has_shape && Compare(ReadValueType(declared, "?"), inferred) == Agreement::kAgree;
}

void ReplaceType(const ValueType& type, pb::ValueInfoProto& info) {
  info.mutable_type()->clear_value();
  WriteValueType(type, info.mutable_type());
}

}  // namespace nn::onnx
