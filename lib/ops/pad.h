// Adding elements around a tensor, or taking some away.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"

namespace nn {

// What the elements beyond an axis with elements a b c are:
enum class PadMode : uint8_t {
  kConstant,   // v v | a b c | v v, v being the input `value`, or zero
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
// added after it; negative numbers take elements away, before any are added. The patterns repeat
// where an axis is shorter than its padding. In place of the attribute there may be the input
// `pads`; with the input `axes` it holds numbers for these axes only. Zero means the zero point in
// a quantised tensor, false, and "".
struct PadAttrs {
  std::vector<int64_t> pads;
  PadMode mode = PadMode::kConstant;
  static std::span<const AttrField> Fields();
};

// The element that element i of an axis of `size` elements is after adding `begin` before it;
// nullopt if it is the padding value. Requires 0 <= i < begin + size + end, and size > 0 unless the
// mode is constant.
std::optional<int64_t> PaddedIndex(int64_t i, int64_t begin, int64_t end, int64_t size,
                                   PadMode mode);

}  // namespace nn
