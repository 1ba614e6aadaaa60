#include "formats/nnapi/file/codes.h"

#include <cstddef>

namespace nn::nnapi {
namespace {

template <typename E>
struct CodeRow {
  E value;
  std::string_view name;
};

constexpr CodeRow<OperandType> kOperandTypes[] = {
    {OperandType::kFloat32, "FLOAT32"},
    {OperandType::kInt32, "INT32"},
    {OperandType::kUint32, "UINT32"},
    {OperandType::kTensorFloat32, "TENSOR_FLOAT32"},
    {OperandType::kTensorInt32, "TENSOR_INT32"},
    {OperandType::kTensorQuant8Asymm, "TENSOR_QUANT8_ASYMM"},
    {OperandType::kOem, "OEM"},
    {OperandType::kTensorOemByte, "TENSOR_OEM_BYTE"},
};

constexpr CodeRow<LifeTime> kLifeTimes[] = {
    {LifeTime::kTemporaryVariable, "TEMPORARY_VARIABLE"},
    {LifeTime::kModelInput, "MODEL_INPUT"},
    {LifeTime::kModelOutput, "MODEL_OUTPUT"},
    {LifeTime::kConstantCopy, "CONSTANT_COPY"},
    {LifeTime::kConstantReference, "CONSTANT_REFERENCE"},
    {LifeTime::kNoValue, "NO_VALUE"},
};

template <typename Row, size_t N>
std::optional<std::string_view> FindCode(const Row (&rows)[N], decltype(Row::value) code) {
  for (const auto& [value, name] : rows)
    if (value == code) return name;
  return std::nullopt;
}

template <typename Row, size_t N>
std::optional<decltype(Row::value)> FindCode(const Row (&rows)[N], std::string_view text) {
  for (const auto& [value, name] : rows)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace

std::vector<OperationType> AllOperations() {
  std::vector<OperationType> out;
  for (const auto& [operation, name] : kOperationCodes) out.push_back(operation);
  return out;
}

std::optional<std::string_view> NameOf(OperandType type) {
  return FindCode(kOperandTypes, type);
}
std::optional<std::string_view> NameOf(OperationType type) {
  return FindCode(kOperationCodes, type);
}
std::optional<std::string_view> NameOf(LifeTime lifetime) {
  return FindCode(kLifeTimes, lifetime);
}

template <>
std::optional<OperandType> Parse(std::string_view name) {
  return FindCode(kOperandTypes, name);
}
template <>
std::optional<OperationType> Parse(std::string_view name) {
  return FindCode(kOperationCodes, name);
}
template <>
std::optional<LifeTime> Parse(std::string_view name) {
  return FindCode(kLifeTimes, name);
}

bool IsTensor(OperandType type) {
  return type == OperandType::kTensorFloat32 || type == OperandType::kTensorInt32 ||
         type == OperandType::kTensorQuant8Asymm || type == OperandType::kTensorOemByte;
}

bool IsScalar(OperandType type) {
  return NameOf(type).has_value() && !IsTensor(type);
}

uint32_t ElementSize(OperandType type) {
  switch (type) {
    case OperandType::kFloat32:
    case OperandType::kInt32:
    case OperandType::kUint32:
    case OperandType::kTensorFloat32:
    case OperandType::kTensorInt32:
      return 4;
    case OperandType::kTensorQuant8Asymm:
    case OperandType::kTensorOemByte:
      return 1;
    case OperandType::kOem:
      break;
  }
  return 0;
}

}  // namespace nn::nnapi
