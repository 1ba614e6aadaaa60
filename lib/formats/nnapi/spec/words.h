// The words of the specification of NNAPI 1.0 (formats/common/spec/row.h).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "base/enumerators.h"
#include "formats/common/spec/row.h"
#include "formats/nnapi/file/codes.h"
#include "formats/nnapi/spec/label.h"
#include "formats/nnapi/spec/signature.h"

namespace nn::nnapi {

// What an operand can be, beside a type variable.
struct KindWord {
  std::string_view word;
  Argument::Kind kind;
  std::optional<OperandType> type;  // the only one
};

inline constexpr KindWord kKinds[] = {
    {"f32", Argument::Kind::kFloats, OperandType::kTensorFloat32},
    {"i32", Argument::Kind::kInts, OperandType::kTensorInt32},
    {"q8", Argument::Kind::kQuantized, OperandType::kTensorQuant8Asymm},
    {"bias", Argument::Kind::kBias, std::nullopt},
    {"tensor", Argument::Kind::kAnyTensor, std::nullopt},
    {"real", Argument::Kind::kReal, OperandType::kFloat32},
    {"int", Argument::Kind::kInt, OperandType::kInt32},
    {"activation", Argument::Kind::kActivation, OperandType::kInt32},
    {"scheme", Argument::Kind::kScheme, OperandType::kInt32},
    {"size", Argument::Kind::kPositive, OperandType::kInt32},
    {"count", Argument::Kind::kNatural, OperandType::kInt32},
};
inline constexpr auto kKindWords = spec::WordsIn(kKinds, &KindWord::word);
inline constexpr auto kOperationWords = spec::WordsIn(kOperationCodes, &OperationCode::name);
inline constexpr auto kLabelWords = EnumeratorWords<Label, kLabels, '_'>::kWords;

inline constexpr spec::Vocabulary kWords = {
    .operators = kOperationWords, .types = kKindWords, .labels = kLabelWords};

// The files *.spec of this folder, which the build embeds.
std::span<const spec::Text> SpecTexts();

}  // namespace nn::nnapi
