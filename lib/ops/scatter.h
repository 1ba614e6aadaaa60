// Writing elements to places chosen by indices. A negative index counts from the end of its axis;
// an index outside its axis is an error of the run (kModel).
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

// What becomes of an element x and an update u that is written to its place. Updates are applied in
// row-major order of the indices, also where several go to one place. 16-bit floats are reduced in
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

// y is x, with updates[i, j, ...] written to the place whose index on `axis` is indices[i, j, ...]:
// y[indices[i, j, ...], j, ...] for axis 0. indices and updates have one shape, of the rank of x.
struct ScatterElementsAttrs {
  int64_t axis = 0;
  Reduction reduction = Reduction::kNone;
  static std::span<const AttrField> Fields();
};

// y is x, with the slices updates[i...] written to y[indices[i..., 0], ..., indices[i..., k - 1]],
// k being the size of the last axis of indices.
struct ScatterNdAttrs {
  Reduction reduction = Reduction::kNone;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
