// Repeating a tensor: as a whole (tile) or along axes of size 1 (expand).
#pragma once

#include <span>

#include "ir/attrs.h"
#include "ir/types/dim.h"

namespace nn {

// y repeats x `repeats[k]` times along each axis k. An input of this name can replace the
// attribute.
struct TileAttrs {
  Dims repeats;
  static std::span<const AttrField> Fields();
};

// The broadcast of x to the shape `dims` (NumPy's rule): axes align at the end, axes of size 1
// repeat, an entry 1 keeps the axis of x. The input `shape` can replace the attribute. A tensor of
// a single repeated value (ConstantOfShape, Fill) is the expansion of a scalar.
struct ExpandAttrs {
  Dims dims;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
