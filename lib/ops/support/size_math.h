// The arithmetic of the functions in *_shape.h, which compute output sizes for graph inference and
// for validators. A size is a number, an expression (Dim), or a range of sizes that a validator
// knows; each such type has these functions, found by argument-dependent lookup. Their second
// operand is a number, or another size.
//
// Sizes that are numbers must be in the range of int32_t, so that no function overflows.
#pragma once

#include <cstdint>

#include "base/checked_math.h"
#include "ir/types/dim.h"

namespace nn {

inline int64_t SizePlus(int64_t a, int64_t b) {
  return a + b;
}
inline int64_t SizeTimes(int64_t a, int64_t b) {
  return a * b;
}
inline int64_t SizeFloorDiv(int64_t a, int64_t b) {
  return FloorDiv(a, b);
}
inline int64_t SizeCeilDiv(int64_t a, int64_t b) {
  return CeilDiv(a, b);
}

inline Dim SizePlus(const Dim& a, const Dim& b) {
  return a + b;
}
inline Dim SizeTimes(const Dim& a, const Dim& b) {
  return a * b;
}
inline Dim SizeFloorDiv(const Dim& a, const Dim& b) {
  return Dim::FloorDiv(a, b);
}
inline Dim SizeCeilDiv(const Dim& a, const Dim& b) {
  return Dim::CeilDiv(a, b);
}

}  // namespace nn
