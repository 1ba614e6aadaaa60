#include "ir/types/one_nan.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "ir/types/small_float.h"

namespace nn {
namespace {

// Words above `infinity`, apart from their sign, are NaN.
template <typename Word>
void SetOneNanOf(std::byte* data, size_t n, Word infinity, Word nan) {
  constexpr Word kMagnitude = std::numeric_limits<Word>::max() >> 1;
  for (size_t i = 0; i < n; ++i) {
    Word word;
    std::memcpy(&word, data + i * sizeof(Word), sizeof(Word));
    if ((word & kMagnitude) > infinity) std::memcpy(data + i * sizeof(Word), &nan, sizeof(Word));
  }
}

void SetOneNanF32(std::byte* data, size_t n) {
  SetOneNanOf<uint32_t>(data, n, 0x7F800000u, 0x7FC00000u);
}

void SetOneNanF64(std::byte* data, size_t n) {
  SetOneNanOf<uint64_t>(data, n, 0x7FF0000000000000u, 0x7FF8000000000000u);
}

void SetOneNanF8(std::byte* data, size_t n, DType dtype) {
  const uint8_t nan = FloatToSmallFloat(dtype, std::numeric_limits<float>::quiet_NaN());
  for (size_t i = 0; i < n; ++i)
    if (std::isnan(SmallFloatToFloat(dtype, static_cast<uint8_t>(data[i]))))
      data[i] = std::byte{nan};
}

}  // namespace

bool HasNan(DType dtype) {
  return (IsFloat(dtype) && dtype != DType::kF4E2M1) || IsComplex(dtype);
}

void SetOneNan(DType dtype, std::byte* data, size_t n) {
  switch (dtype) {
    case DType::kF16:
      return SetOneNanOf<uint16_t>(data, n, 0x7C00, 0x7E00);
    case DType::kBF16:
      return SetOneNanOf<uint16_t>(data, n, 0x7F80, 0x7FC0);
    case DType::kF32:
      return SetOneNanF32(data, n);
    case DType::kC64:
      return SetOneNanF32(data, 2 * n);
    case DType::kF64:
      return SetOneNanF64(data, n);
    case DType::kC128:
      return SetOneNanF64(data, 2 * n);
    default:
      if (HasNan(dtype)) SetOneNanF8(data, n, dtype);
  }
}

}  // namespace nn
