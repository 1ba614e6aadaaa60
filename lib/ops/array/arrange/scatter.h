// Writing elements to positions given by indices. A negative index counts from the end of its axis;
// an index out of range is a run-time error (kModel).
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

// How an element x and an update u written to its position are combined. Updates are applied in
// row-major order of the indices, also if several go to one position. 16-bit floats are reduced in
// float32 and rounded once; integers wrap.
enum class Reduction : uint8_t {
  kNone,  // u
  kAdd,   // x + u
  kMul,   // x * u
  kMin,   // x < u ? x : u
  kMax,   // x > u ? x : u
};
template <>
struct EnumNames<Reduction> {
  static constexpr std::string_view kNames[] = {"none", "add", "mul", "min", "max"};
};

// y is x, with updates[i, j, ...] written to the position whose index on `axis` is indices[i, j,
// ...]: y[indices[i, j, ...], j, ...] for axis 0. indices and updates have the same shape, of the
// rank of x.
struct ScatterElementsAttrs {
  int64_t axis = 0;
  Reduction reduction = Reduction::kNone;
  static std::span<const AttrField> Fields();
};

// y is x, with the slices updates[i...] written to y[indices[i..., 0], ..., indices[i..., k - 1]],
// where k is the size of the last axis of indices.
struct ScatterNdAttrs {
  Reduction reduction = Reduction::kNone;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
