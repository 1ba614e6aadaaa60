#include "ir/types/dtype.h"

#include <array>
#include <limits>

namespace nn {
namespace {

enum class Kind : uint8_t { kNone, kBool, kInt, kUint, kFloat, kComplex };

struct Info {
  DType type;
  std::string_view name;
  int bits;
  Kind kind;
};

constexpr std::array<Info, kDTypeCount> kInfo = {{
    {DType::kUnknown, "?", 0, Kind::kNone},
    {DType::kBool, "bool", 8, Kind::kBool},
    {DType::kI2, "i2", 2, Kind::kInt},
    {DType::kI4, "i4", 4, Kind::kInt},
    {DType::kI8, "i8", 8, Kind::kInt},
    {DType::kI16, "i16", 16, Kind::kInt},
    {DType::kI32, "i32", 32, Kind::kInt},
    {DType::kI64, "i64", 64, Kind::kInt},
    {DType::kU2, "u2", 2, Kind::kUint},
    {DType::kU4, "u4", 4, Kind::kUint},
    {DType::kU8, "u8", 8, Kind::kUint},
    {DType::kU16, "u16", 16, Kind::kUint},
    {DType::kU32, "u32", 32, Kind::kUint},
    {DType::kU64, "u64", 64, Kind::kUint},
    {DType::kF16, "f16", 16, Kind::kFloat},
    {DType::kBF16, "bf16", 16, Kind::kFloat},
    {DType::kF32, "f32", 32, Kind::kFloat},
    {DType::kF64, "f64", 64, Kind::kFloat},
    {DType::kF8E4M3FN, "f8e4m3fn", 8, Kind::kFloat},
    {DType::kF8E4M3FNUZ, "f8e4m3fnuz", 8, Kind::kFloat},
    {DType::kF8E5M2, "f8e5m2", 8, Kind::kFloat},
    {DType::kF8E5M2FNUZ, "f8e5m2fnuz", 8, Kind::kFloat},
    {DType::kF8E8M0, "f8e8m0", 8, Kind::kFloat},
    {DType::kF4E2M1, "f4e2m1", 4, Kind::kFloat},
    {DType::kC64, "c64", 64, Kind::kComplex},
    {DType::kC128, "c128", 128, Kind::kComplex},
    {DType::kString, "str", 0, Kind::kNone},
}};

constexpr bool InOrder() {
  for (size_t i = 0; i < kInfo.size(); ++i)
    if (static_cast<size_t>(kInfo[i].type) != i) return false;
  return true;
}
static_assert(InOrder());

const Info& InfoOf(DType type) {
  return kInfo[static_cast<size_t>(type)];
}

}  // namespace

bool IsFloat(DType type) {
  return InfoOf(type).kind == Kind::kFloat;
}
bool IsComplex(DType type) {
  return InfoOf(type).kind == Kind::kComplex;
}
bool IsSigned(DType type) {
  return InfoOf(type).kind == Kind::kInt;
}
bool IsInteger(DType type) {
  return InfoOf(type).kind == Kind::kInt || InfoOf(type).kind == Kind::kUint;
}

int64_t MinInteger(DType type) {
  if (!IsSigned(type)) return 0;
  return std::numeric_limits<int64_t>::min() >> (64 - DTypeBits(type));
}

int64_t MaxInteger(DType type) {
  if (type == DType::kBool) return 1;
  const int value_bits = DTypeBits(type) - (IsSigned(type) ? 1 : 0);
  if (value_bits >= 63) return std::numeric_limits<int64_t>::max();
  return (int64_t{1} << value_bits) - 1;
}

}  // namespace nn

namespace nnsuite {

std::string_view DTypeName(DType type) {
  return nn::InfoOf(type).name;
}

std::optional<DType> ParseDType(std::string_view name) {
  for (const nn::Info& info : nn::kInfo)
    if (info.name == name) return info.type;
  return std::nullopt;
}

int DTypeBits(DType type) {
  return nn::InfoOf(type).bits;
}

}  // namespace nnsuite
