// Repeating a tensor: as a whole (tile) or along axes of size 1 (expand).
#pragma once

#include <span>

#include "ir/attrs.h"
#include "ir/dim.h"

namespace nn {

// y holds x `repeats[k]` times one after the other along each axis k. In place of the attribute
// there may be an input of this name.
struct TileAttrs {
  Dims repeats;
  static std::span<const AttrField> Fields();
};

// The broadcast of x to the shape `dims` (NumPy's rule): axes align at the end, axes of size 1
// repeat, an entry 1 keeps the axis of x. In place of the attribute there may be the input `shape`.
// A tensor of one value throughout (ConstantOfShape, Fill) is the expansion of a scalar.
struct ExpandAttrs {
  Dims dims;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
