#include "formats/common/describe/value_type.h"

#include <fmt/core.h>

namespace nn {

ValueType ValueType::Tensor(Type type) {
  ValueType out;
  out.kind = Kind::kTensor;
  out.tensor = std::move(type);
  return out;
}

ValueType ValueType::Tensor(DType dtype, std::optional<Dims> dims) {
  Type type;
  type.dtype = dtype;
  type.dims = std::move(dims);
  return Tensor(std::move(type));
}

ValueType ValueType::Sequence(ValueType element) {
  ValueType out;
  out.kind = Kind::kSequence;
  out.element = std::make_shared<const ValueType>(std::move(element));
  return out;
}

ValueType ValueType::Optional(ValueType element) {
  ValueType out = Sequence(std::move(element));
  out.kind = Kind::kOptional;
  return out;
}

const ValueType& ValueType::inner() const {
  static const ValueType unknown;
  return element == nullptr ? unknown : *element;
}

namespace {

// Type::ToString() with "?" for generated symbols.
std::string TensorText(const Type& type) {
  if (!type.dims) return type.ToString();
  std::string sizes;
  for (const Dim& d : *type.dims) {
    const std::string text = d.ToString();
    sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ",
                         text.find('?') == std::string::npos ? text : "?");
  }
  std::string text = type.WithDims({}).ToString();
  return text.insert(text.find('[') + 1, sizes);
}

}  // namespace

std::string ValueType::ToString() const {
  switch (kind) {
    case Kind::kUnknown:
      return "unknown";
    case Kind::kTensor:
      return TensorText(tensor);
    case Kind::kSparse:
      return fmt::format("sparse_tensor({})", TensorText(tensor));
    case Kind::kSequence:
      return fmt::format("seq({})", inner().ToString());
    case Kind::kOptional:
      return fmt::format("opt({})", inner().ToString());
    case Kind::kMap:
      return fmt::format("map({}:{})", DTypeName(tensor.dtype), inner().ToString());
    case Kind::kOpaque:
      return "opaque";
  }
  return {};
}

std::string_view ElementName(DType type) {
  switch (type) {
    case DType::kBool:
      return "BOOL";
    case DType::kI2:
      return "INT2";
    case DType::kI4:
      return "INT4";
    case DType::kI8:
      return "INT8";
    case DType::kI16:
      return "INT16";
    case DType::kI32:
      return "INT32";
    case DType::kI64:
      return "INT64";
    case DType::kU2:
      return "UINT2";
    case DType::kU4:
      return "UINT4";
    case DType::kU8:
      return "UINT8";
    case DType::kU16:
      return "UINT16";
    case DType::kU32:
      return "UINT32";
    case DType::kU64:
      return "UINT64";
    case DType::kF16:
      return "FLOAT16";
    case DType::kBF16:
      return "BFLOAT16";
    case DType::kF32:
      return "FLOAT";
    case DType::kF64:
      return "DOUBLE";
    case DType::kF8E4M3FN:
      return "FLOAT8E4M3FN";
    case DType::kF8E4M3FNUZ:
      return "FLOAT8E4M3FNUZ";
    case DType::kF8E5M2:
      return "FLOAT8E5M2";
    case DType::kF8E5M2FNUZ:
      return "FLOAT8E5M2FNUZ";
    case DType::kF8E8M0:
      return "FLOAT8E8M0";
    case DType::kF4E2M1:
      return "FLOAT4E2M1";
    case DType::kC64:
      return "COMPLEX64";
    case DType::kC128:
      return "COMPLEX128";
    case DType::kString:
      return "STRING";
    case DType::kUnknown:
      break;
  }
  return "UNDEFINED";
}

std::string_view ValueEntry::NameOf(Role role) {
  constexpr std::string_view kNames[] = {"input", "constant", "result"};
  return kNames[static_cast<size_t>(role)];
}

}  // namespace nn
