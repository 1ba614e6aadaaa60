#include "formats/coreml/program/import/values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/coreml/program/spec/signature.h"
#include "formats/coreml/program/spec/words.h"

namespace nn::coreml::program {
namespace {

// Limit of Core ML: elements of a state, of a new list, and of a factor of a normalization that is
// absent. They are made at import, and a file of a few bytes may declare any size.
constexpr int64_t kMaxUniform = int64_t{1} << 26;

// Limit of Core ML: size of an axis of a value of an ML Program. Products with a few small numbers
// are exact.
constexpr uint64_t kMaxSize = uint64_t{1} << 48;

// The elements of a list of numbers, stored in another element type.
template <typename List>
Result<Tensor> FromNumbers(const List& list, DType dtype, std::vector<int64_t> dims) {
  // Memory is only allocated for elements that the file has.
  if (const int64_t elements = CheckedElements(dims).value_or(INT64_MAX); elements != list.size())
    return ModelError("a value has {} elements; its type needs {}", list.size(), elements);
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dtype, std::move(dims)));
  for (int i = 0; i < list.size(); ++i) out.SetInt(i, static_cast<int64_t>(list.Get(i)));
  return out.Finish();
}

Result<std::vector<int64_t>> ConstantDims(const mil::TensorType& type) {
  std::vector<int64_t> dims;
  for (const mil::Dimension& d : type.dimensions()) {
    if (!d.has_constant() || d.constant().size() > kMaxSize)
      return ModelError("the shape of a constant must be known");
    dims.push_back(static_cast<int64_t>(d.constant().size()));
  }
  return dims;
}

// Bits of an element of a type that graphs hold in bytes; 0 for other types.
int UnpackedBits(mil::DataType type) {
  const bool is_unpacked = type == mil::UINT1 || type == mil::UINT3 || type == mil::UINT6;
  return is_unpacked ? BitsOf(type) : 0;
}

}  // namespace

Result<Tensor> Unpack(const Blob& packed, int bits, std::vector<int64_t> dims) {
  const auto elements = static_cast<uint64_t>(CheckedElements(dims).value_or(INT64_MAX));
  if (elements > packed.size() * 8 ||
      packed.size() != CeilDiv(elements * static_cast<uint64_t>(bits), uint64_t{8}))
    return ModelError("{} bytes do not hold {} elements of {} bits", packed.size(), elements, bits);
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kU8, std::move(dims)));
  const auto to = out.As<uint8_t>();
  const std::byte* const from = packed.data();
  for (uint64_t i = 0; i < elements; ++i) {
    unsigned value = 0;
    for (int b = 0; b < bits; ++b) {
      const uint64_t at = i * static_cast<uint64_t>(bits) + static_cast<uint64_t>(b);
      value |= ((std::to_integer<unsigned>(from[at / 8]) >> (at % 8)) & 1u) << b;
    }
    to[i] = static_cast<uint8_t>(value);
  }
  return out.Finish();
}

Result<Tensor> UniformTensor(DType dtype, std::vector<int64_t> dims, double number) {
  const auto elements = CheckedElements(dims);
  if (!elements || *elements > kMaxUniform)
    return UnsupportedError("more than {} equal elements are unsupported", kMaxUniform);
  NN_ASSIGN(TensorBuilder one, TensorBuilder::Create(dtype, {}));
  one.SetDouble(0, number);
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dtype, std::move(dims)));
  out.Fill(0, out.elements(), one.Finish());
  return out.Finish();
}

DType DTypeOf(mil::DataType type) {
  if (UnpackedBits(type) != 0) return DType::kU8;
  if (type == mil::FLOAT8E4M3FN) return DType::kF8E4M3FN;
  if (type == mil::FLOAT8E5M2) return DType::kF8E5M2;
  const auto* const row = std::ranges::find(kTypes, type, &TypeWord::type);
  return row == std::end(kTypes) ? DType::kUnknown
                                 : ParseDType(row->word).value_or(DType::kUnknown);
}

Result<DType> DTypeNamed(std::string_view name) {
  const auto type = TypeNamed(name);
  if (!type) return ModelError("there is no element type {}", Quote(name));
  const DType dtype = DTypeOf(*type);
  if (dtype == DType::kUnknown) return UnsupportedError("element type {} is unsupported", name);
  return dtype;
}

Result<Type> TypeOf(const mil::ValueType& type, std::string_view name) {
  if (!type.has_tensortype()) return UnsupportedError("only tensors are supported");
  const mil::TensorType& tensor = type.tensortype();
  const DType dtype = DTypeOf(tensor.datatype());
  if (dtype == DType::kUnknown)
    return UnsupportedError("element type {} is unsupported", TypeName(tensor.datatype()));
  if (tensor.rank() < 0) {
    Type unranked;
    unranked.dtype = dtype;
    return unranked;
  }
  Dims dims;
  for (int i = 0; i < tensor.dimensions_size(); ++i) {
    const mil::Dimension& d = tensor.dimensions(i);
    if (d.unknown().variadic()) return UnsupportedError("shapes of any rank are unsupported");
    if (!d.has_constant())
      dims.push_back(Dim::Symbol(fmt::format("{}_{}", name, i)));
    else if (d.constant().size() > kMaxSize)
      return ModelError("dimension {} is {}, which is out of range", i, d.constant().size());
    else
      dims.emplace_back(static_cast<int64_t>(d.constant().size()));
  }
  return Type(dtype, std::move(dims));
}

Result<Tensor> ValueReader::Read(const mil::Value& value) {
  if (value.immediatevalue().has_list()) return ReadList(value.immediatevalue().list());
  if (!value.type().has_tensortype())
    return UnsupportedError("constants that are no tensors are unsupported");
  const mil::TensorType& type = value.type().tensortype();
  const DType dtype = DTypeOf(type.datatype());
  if (dtype == DType::kUnknown)
    return UnsupportedError("constants of type {} are unsupported", TypeName(type.datatype()));
  NN_ASSIGN(std::vector<int64_t> dims, ConstantDims(type));
  if (value.has_blobfilevalue()) {
    NN_ASSIGN(const BlobEntry entry, weights_.Find(value));
    if (entry.type != TypeName(type.datatype()))
      return ModelError("the constant has type {}, but its weight entry has type {}",
                        TypeName(type.datatype()), entry.type);
    if (const int bits = UnpackedBits(type.datatype()); bits != 0)
      return Unpack(entry.data, bits, std::move(dims));
    return Tensor::Make(dtype, std::move(dims), entry.data);
  }
  if (!value.immediatevalue().has_tensor()) return ModelError("a constant has no value");
  const mil::TensorValue& tensor = value.immediatevalue().tensor();
  if (const int bits = UnpackedBits(type.datatype()); bits != 0 && tensor.has_bytes())
    return Unpack(Fields(tensor.bytes(), model_.payloads).Bytes("values"), bits, std::move(dims));
  return ReadImmediate(tensor, dtype, std::move(dims));
}

Result<Tensor> ValueReader::ReadImmediate(const mil::TensorValue& value, DType dtype,
                                          std::vector<int64_t> dims) const {
  const auto bytes_of = [&](const google::protobuf::Message& list) {
    return Fields(list, model_.payloads).Bytes("values");
  };
  const auto elements = CheckedElements(dims);
  if (!elements) return ModelError("a constant has too many elements");
  const auto need = [&](DType held) -> Status {
    if (dtype == held) return {};
    return ModelError("a constant of type {} has elements of type {}", DTypeName(dtype),
                      DTypeName(held));
  };
  switch (value.value_case()) {
    case mil::TensorValue::kFloats:
      NN_RETURN_IF_ERROR(need(DType::kF32));
      return Tensor::Make(dtype, std::move(dims), bytes_of(value.floats()));
    case mil::TensorValue::kDoubles:
      NN_RETURN_IF_ERROR(need(DType::kF64));
      return Tensor::Make(dtype, std::move(dims), bytes_of(value.doubles()));
    case mil::TensorValue::kInts:
      return FromNumbers(value.ints().values(), dtype, std::move(dims));
    case mil::TensorValue::kLongInts:
      return FromNumbers(value.longints().values(), dtype, std::move(dims));
    case mil::TensorValue::kBools:
      NN_RETURN_IF_ERROR(need(DType::kBool));
      return FromNumbers(value.bools().values(), dtype, std::move(dims));
    case mil::TensorValue::kStrings: {
      NN_RETURN_IF_ERROR(need(DType::kString));
      const auto& list = value.strings().values();
      if (list.size() != *elements)
        return ModelError("a value has {} strings; its type needs {}", list.size(), *elements);
      return Tensor(std::move(dims), {list.begin(), list.end()});
    }
    case mil::TensorValue::kBytes:
      return Tensor::Make(dtype, std::move(dims), bytes_of(value.bytes()));
    default:
      // Nothing is written for a list without elements.
      if (*elements == 0) return Tensor::Make(dtype, std::move(dims), Blob());
      return ModelError("a constant has no elements; its type needs {}", *elements);
  }
}

// Class labels are a list.
Result<Tensor> ValueReader::ReadList(const mil::ListValue& list) {
  std::vector<std::string> strings;
  std::vector<int64_t> numbers;
  for (const mil::Value& entry : list.values()) {
    NN_ASSIGN(const Tensor t, Read(entry));
    if (t.elements() != 1) return UnsupportedError("lists of tensors are unsupported");
    if (t.dtype() == DType::kString)
      strings.push_back(t.strings()[0]);
    else
      numbers.push_back(t.GetInt(0));
  }
  if (!strings.empty() && !numbers.empty()) return ModelError("a list has elements of two types");
  const auto size = static_cast<int64_t>(list.values_size());
  if (numbers.empty()) return Tensor({size}, std::move(strings));
  return Tensor::Ints(numbers);
}

}  // namespace nn::coreml::program
