// Element types of tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nnsuite {

enum class DType : uint8_t {
  kUnknown,  // neither declared nor inferred
  kBool,
  kI2,
  kI4,
  kI8,
  kI16,
  kI32,
  kI64,
  kU2,
  kU4,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kF8E4M3FN,
  kF8E4M3FNUZ,
  kF8E5M2,
  kF8E5M2FNUZ,
  kF8E8M0,
  kF4E2M1,
  kC64,
  kC128,  // kC64, kC128: pairs of float, double
  kString,
};
inline constexpr int kDTypeCount = static_cast<int>(DType::kString) + 1;

// The short name used by the text form: "f32", "i8", "bool", "str", ...
std::string_view DTypeName(DType type);
std::optional<DType> ParseDType(std::string_view name);

// Bits of one element; 0 for kString and kUnknown. Types under 8 bits are packed, lowest bits
// first.
int DTypeBits(DType type);

// The element type of a C++ type; kUnknown if there is none.
template <typename T>
inline constexpr DType kDTypeOf = DType::kUnknown;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::kI8;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::kI16;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kI32;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kI64;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kU8;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::kU16;
template <>
inline constexpr DType kDTypeOf<uint32_t> = DType::kU32;
template <>
inline constexpr DType kDTypeOf<uint64_t> = DType::kU64;
template <>
inline constexpr DType kDTypeOf<float> = DType::kF32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kF64;

}  // namespace nnsuite
