// The words of the specification of TensorFlow Lite (formats/common/spec/row.h).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/enumerators.h"
#include "formats/common/spec/row.h"
#include "formats/tflite/spec/signature.h"

namespace nn::tflite {

struct TypeWord {
  std::string_view word;
  fb::TensorType type;
};

inline constexpr TypeWord kTypes[] = {
    {"f32", fb::TensorType::FLOAT32},   {"f16", fb::TensorType::FLOAT16},
    {"i32", fb::TensorType::INT32},     {"u8", fb::TensorType::UINT8},
    {"i64", fb::TensorType::INT64},     {"str", fb::TensorType::STRING},
    {"bool", fb::TensorType::BOOL},     {"i16", fb::TensorType::INT16},
    {"c64", fb::TensorType::COMPLEX64}, {"i8", fb::TensorType::INT8},
    {"f64", fb::TensorType::FLOAT64},   {"c128", fb::TensorType::COMPLEX128},
    {"u64", fb::TensorType::UINT64},    {"res", fb::TensorType::RESOURCE},
    {"u32", fb::TensorType::UINT32},    {"u16", fb::TensorType::UINT16},
    {"i4", fb::TensorType::INT4},       {"bf16", fb::TensorType::BFLOAT16},
    {"i2", fb::TensorType::INT2},       {"u4", fb::TensorType::UINT4},
};
inline constexpr auto kTypeWords = spec::WordsIn(kTypes, &TypeWord::word);

// In the order of the numbers.
inline constexpr auto kOperatorWords =
    EnumeratorNames<fb::BuiltinOperator, 0, static_cast<size_t>(fb::BuiltinOperator::MAX) + 1>();

// The members of BuiltinOptions in the order of their numbers, then those of BuiltinOptions2.
inline constexpr size_t kFirstOptions = static_cast<size_t>(fb::BuiltinOptions::MAX) + 1;
inline constexpr size_t kSecondOptions = static_cast<size_t>(fb::BuiltinOptions2::MAX) + 1;
inline constexpr auto kOptionWords = [] {
  std::array<std::string_view, kFirstOptions + kSecondOptions> words;
  size_t n = 0;
  const auto add = [&](std::string_view name) {
    if (name.ends_with("Options")) words[n] = name.substr(0, name.size() - 7);
    ++n;
  };
  for (const std::string_view name : EnumeratorNames<fb::BuiltinOptions, 0, kFirstOptions>())
    add(name);
  for (const std::string_view name : EnumeratorNames<fb::BuiltinOptions2, 0, kSecondOptions>())
    add(name);
  return words;
}();

inline constexpr spec::Vocabulary kWords = {
    .operators = kOperatorWords, .options = kOptionWords, .types = kTypeWords};

// The files *.spec of this folder, which the build embeds.
std::span<const spec::Text> SpecTexts();

}  // namespace nn::tflite
