// Signatures of NNAPI 1.0 operations (types.hal, OperationType).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/nnapi/file/codes.h"

namespace nn::nnapi {

// The name of a constraint (constraint.h), which rules, refusals and tests share.
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

// One operand in a signature.
struct Argument {
  enum class Kind : char {
    kData = 'x',        // a tensor of the operation's data type, common to all of them
    kBias = 'b',        // TENSOR_FLOAT32, or TENSOR_INT32 where the data are quantized
    kFloats = 'f',      // TENSOR_FLOAT32
    kInts = 't',        // TENSOR_INT32
    kQuantized = 'q',   // TENSOR_QUANT8_ASYMM
    kAnyTensor = 'y',   // of floats, integers or quantized
    kReal = 'r',        // FLOAT32
    kInt = 'i',         // INT32
    kActivation = 'a',  // INT32, a FusedActivation
    kScheme = 'p',      // INT32, an ImplicitPadding
    kPositive = 's',    // INT32, at least 1
    kNatural = 'n',     // INT32, at least 0
  };
  Kind kind = Kind::kData;
  int min_rank = 0;
  int max_rank = 0;        // 0: no limit
  bool ends_only = false;  // only the smallest and the largest rank
  bool optional = false;
  bool repeats = false;

  bool is_tensor() const;
  bool TakesRank(size_t rank) const;
  // "2", "1 to 4", "2 or 4", "2 or more".
  std::string RanksText() const;
};

struct Signature {
  OperationType type;
  std::string_view data_types;  // of kData: f, q, i for float, quantized, int32
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<Label> constraints;  // beyond those of every operation

  bool Has(Label label) const;
  bool Takes(size_t count) const;
  // The argument at a position; the repeated one covers all before those after it.
  const Argument& InputAt(size_t i, size_t count) const;
};

// The signatures of an operation: one, or two if padding can be explicit or implicit.
std::vector<const Signature*> SignaturesOf(OperationType type);

// The numbers of inputs: "10 or 7".
std::string InputCounts(OperationType type);

// The signature with this number of inputs; nullptr if there is none.
const Signature* FindSignature(OperationType type, size_t inputs);

}  // namespace nn::nnapi
