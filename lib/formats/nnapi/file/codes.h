// The enumerations of the neural networks HAL 1.0 (types.hal), by number and by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nn::nnapi {

enum class OperandType : int32_t {
  kFloat32 = 0,
  kInt32 = 1,
  kUint32 = 2,
  kTensorFloat32 = 3,
  kTensorInt32 = 4,
  kTensorQuant8Asymm = 5,
  kOem = 10000,
  kTensorOemByte = 10001,
};

enum class OperationType : int32_t {
  kAdd = 0,
  kAveragePool2d = 1,
  kConcatenation = 2,
  kConv2d = 3,
  kDepthwiseConv2d = 4,
  kDepthToSpace = 5,
  kDequantize = 6,
  kEmbeddingLookup = 7,
  kFloor = 8,
  kFullyConnected = 9,
  kHashtableLookup = 10,
  kL2Normalization = 11,
  kL2Pool2d = 12,
  kLocalResponseNormalization = 13,
  kLogistic = 14,
  kLshProjection = 15,
  kLstm = 16,
  kMaxPool2d = 17,
  kMul = 18,
  kRelu = 19,
  kRelu1 = 20,
  kRelu6 = 21,
  kReshape = 22,
  kResizeBilinear = 23,
  kRnn = 24,
  kSoftmax = 25,
  kSpaceToDepth = 26,
  kSvdf = 27,
  kTanh = 28,
  kOemOperation = 10000,
};

struct OperationCode {
  OperationType value;
  std::string_view name;  // in the HAL
};
inline constexpr OperationCode kOperationCodes[] = {
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

enum class LifeTime : int32_t {
  kTemporaryVariable = 0,
  kModelInput = 1,
  kModelOutput = 2,
  kConstantCopy = 3,
  kConstantReference = 4,
  kNoValue = 5,
};

// The value of an INT32 operand.
enum class FusedActivation : int32_t { kNone = 0, kRelu = 1, kRelu1 = 2, kRelu6 = 3 };

// The implicit padding scheme, the value of an INT32 operand.
enum class ImplicitPadding : int32_t { kNone = 0, kSame = 1, kValid = 2 };

// The enumerator's name in the HAL, "TENSOR_FLOAT32"; nullopt for unknown numbers.
std::optional<std::string_view> NameOf(OperandType type);
std::optional<std::string_view> NameOf(OperationType type);
std::optional<std::string_view> NameOf(LifeTime lifetime);
// In the order of their numbers.
std::vector<OperationType> AllOperations();

// The same, or the number if unnamed.
template <typename E>
std::string TextOf(E code) {
  const auto name = NameOf(code);
  return name ? std::string(*name) : std::to_string(static_cast<int32_t>(code));
}

// The enumerator with a name in the HAL.
template <typename E>
std::optional<E> Parse(std::string_view name);
template <>
std::optional<OperandType> Parse(std::string_view name);
template <>
std::optional<OperationType> Parse(std::string_view name);
template <>
std::optional<LifeTime> Parse(std::string_view name);

// Tensors have dimensions, scalars have none. Both are false for unknown codes.
bool IsTensor(OperandType type);
bool IsScalar(OperandType type);

// Bytes per element; 0 for OEM scalars, whose size is vendor-specific, and for unknown codes.
uint32_t ElementSize(OperandType type);

}  // namespace nn::nnapi
