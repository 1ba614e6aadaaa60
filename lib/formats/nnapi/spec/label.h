// The names of the constraints on NNAPI operands and operations (constraint.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nn::nnapi {

// Rules, refusals, tests and signatures share them. The words of a signature are those of the
// enumerators: "same_shape".
enum class Label : uint8_t {
  // Of operands.
  kOperandType,
  kScalarDimensions,
  kTensorDimensions,
  kQuantization,
  kStrayQuantization,
  kFiniteScale,
  kTensorBytes,
  // Of every operation, from its signature.
  kKnownOperation,
  kInputCount,
  kOutputCount,
  kRequiredValue,
  kDataType,
  kArgumentType,
  kRank,
  kActivationCode,
  kPaddingCode,
  kPositive,
  kNonNegative,
  // Elementwise operations, and any that keep the quantization.
  kSameShape,
  kBroadcast,
  kSameQuantization,
  kProbabilityScale,
  kNonzeroBias,
  kPositiveBeta,
  // Convolutions, pooling and similar operations.
  kWindowFits,
  kWindowShape,
  kFilterDepth,
  kDepthwiseFilter,
  kBiasLength,
  kBiasScale,
  kProductScale,
  kPoolPadding,
  // Operations that move elements.
  kConcatAxis,
  kConcatSizes,
  kConcatShape,
  kBlockDivides,
  kBlockShape,
  kReshapeSizes,
  kReshapeElements,
  kReshapeShape,
  kResizeShape,
  // Lookups and hashing.
  kLookupShape,
  kLookupRange,
  kTableShape,
  kKeyOrder,
  kKeyCount,
  kHitsQuantization,
  kProjectionType,
  kProjectionWeightCount,
  kProjectionWeights,
  kHashBits,
  kProjectionShape,
  // Matrix products and recurrent operations.
  kRowLength,
  kProductShape,
  kRnnSizes,
  kSvdfFilters,
  kSvdfSizes,
  kSvdfState,
  kLstmSizes,
  kLstmUnprojected,
  kLstmInputGate,
  kLstmActivation,
  kLstmPeepholes,
  kLstmProjection,
  kLstmClip,
  kCount,
  kLastOfAll = kNonNegative,  // the constraints up to this one need not be named by signatures
};
inline constexpr size_t kLabels = static_cast<size_t>(Label::kCount);

std::string_view NameOf(Label label);  // "same_shape"
std::optional<Label> LabelNamed(std::string_view name);

}  // namespace nn::nnapi
