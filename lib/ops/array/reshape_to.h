// Reshapes by attributes, also where only a run knows the sizes.
#pragma once

#include "ir/types/dim.h"
#include "ops/array/shape.h"

namespace nn {

// The attributes that reshape `from` to `to`. A size that only a run knows is copied or the rest,
// if that says which it is; the attributes then need no symbol, which inference may name otherwise
// when it finds the types again.
ReshapeAttrs ReshapeTo(const Dims& from, const Dims& to);

}  // namespace nn
