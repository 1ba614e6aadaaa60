// bit_cast: the same bits as elements of another type, little-endian. Types of different widths, of
// 8 bits or more, differ by a last axis: an element becomes as many narrower ones as it has room
// for, and the elements of a last axis of that size become a wider one.
//
// Two things are not kept, so that results do not depend on the processor: every NaN counts as the
// quiet NaN of its type (ir/types/one_nan.h), and a bool is true if any of its bits is set.
#pragma once

#include <span>

#include "ir/attrs.h"
#include "ir/types/dtype.h"

namespace nn {

struct BitCastAttrs {
  DType to = DType::kUnknown;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
