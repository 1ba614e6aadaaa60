// Padding and cropping a tensor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"

namespace nn {

// The elements added to an axis with elements a b c:
enum class PadMode : uint8_t {
  kConstant,   // v v | a b c | v v, v is the input `value`, or zero
  kReflect,    // c b | a b c | b a
  kEdge,       // a a | a b c | c c
  kSymmetric,  // b a | a b c | c b
  kWrap,       // b c | a b c | a b
};
template <>
struct EnumNames<PadMode> {
  static constexpr std::string_view kNames[] = {"constant", "reflect", "edge", "symmetric", "wrap"};
};

// `pads` holds for each axis the number of elements added before it, then for each axis the number
// added after it; negative numbers remove elements, before any are added. The patterns repeat where
// an axis is shorter than its padding. The input `pads` can replace the attribute; with the input
// `axes` it holds numbers for these axes only. Zero means the zero point in a quantized tensor,
// false, and "".
struct PadAttrs {
  std::vector<int64_t> pads;
  PadMode mode = PadMode::kConstant;
  static std::span<const AttrField> Fields();
};

// The source index of element i of an axis of `size` elements after adding `begin` before it;
// nullopt if it is the padding value. Requires 0 <= i < begin + size + end, and size > 0 unless the
// mode is constant.
std::optional<int64_t> PaddedIndex(int64_t i, int64_t begin, int64_t end, int64_t size,
                                   PadMode mode);

}  // namespace nn
