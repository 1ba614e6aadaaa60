#include "formats/nnapi/file/codes.h"

#include <cstddef>
#include <utility>

namespace nn::nnapi {
namespace {

template <typename E>
using CodeRow = std::pair<E, std::string_view>;

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

constexpr CodeRow<OperationType> kOperationTypes[] = {
    {OperationType::kAdd, "ADD"},
    {OperationType::kAveragePool2d, "AVERAGE_POOL_2D"},
    {OperationType::kConcatenation, "CONCATENATION"},
    {OperationType::kConv2d, "CONV_2D"},
    {OperationType::kDepthwiseConv2d, "DEPTHWISE_CONV_2D"},
    {OperationType::kDepthToSpace, "DEPTH_TO_SPACE"},
    {OperationType::kDequantize, "DEQUANTIZE"},
    {OperationType::kEmbeddingLookup, "EMBEDDING_LOOKUP"},
    {OperationType::kFloor, "FLOOR"},
    {OperationType::kFullyConnected, "FULLY_CONNECTED"},
    {OperationType::kHashtableLookup, "HASHTABLE_LOOKUP"},
    {OperationType::kL2Normalization, "L2_NORMALIZATION"},
    {OperationType::kL2Pool2d, "L2_POOL_2D"},
    {OperationType::kLocalResponseNormalization, "LOCAL_RESPONSE_NORMALIZATION"},
    {OperationType::kLogistic, "LOGISTIC"},
    {OperationType::kLshProjection, "LSH_PROJECTION"},
    {OperationType::kLstm, "LSTM"},
    {OperationType::kMaxPool2d, "MAX_POOL_2D"},
    {OperationType::kMul, "MUL"},
    {OperationType::kRelu, "RELU"},
    {OperationType::kRelu1, "RELU1"},
    {OperationType::kRelu6, "RELU6"},
    {OperationType::kReshape, "RESHAPE"},
    {OperationType::kResizeBilinear, "RESIZE_BILINEAR"},
    {OperationType::kRnn, "RNN"},
    {OperationType::kSoftmax, "SOFTMAX"},
    {OperationType::kSpaceToDepth, "SPACE_TO_DEPTH"},
    {OperationType::kSvdf, "SVDF"},
    {OperationType::kTanh, "TANH"},
    {OperationType::kOemOperation, "OEM_OPERATION"},
};

constexpr CodeRow<LifeTime> kLifeTimes[] = {
    {LifeTime::kTemporaryVariable, "TEMPORARY_VARIABLE"},
    {LifeTime::kModelInput, "MODEL_INPUT"},
    {LifeTime::kModelOutput, "MODEL_OUTPUT"},
    {LifeTime::kConstantCopy, "CONSTANT_COPY"},
    {LifeTime::kConstantReference, "CONSTANT_REFERENCE"},
    {LifeTime::kNoValue, "NO_VALUE"},
};

template <typename E, size_t N>
std::optional<std::string_view> FindCode(const CodeRow<E> (&rows)[N], E code) {
  for (const auto& [value, name] : rows)
    if (value == code) return name;
  return std::nullopt;
}

template <typename E, size_t N>
std::optional<E> FindCode(const CodeRow<E> (&rows)[N], std::string_view text) {
  for (const auto& [value, name] : rows)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace

std::vector<OperationType> AllOperations() {
  std::vector<OperationType> out;
  for (const auto& [operation, name] : kOperationTypes) out.push_back(operation);
  return out;
}

std::optional<std::string_view> NameOf(OperandType type) {
  return FindCode(kOperandTypes, type);
}
std::optional<std::string_view> NameOf(OperationType type) {
  return FindCode(kOperationTypes, type);
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
  return FindCode(kOperationTypes, name);
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
