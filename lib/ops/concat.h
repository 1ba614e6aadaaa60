// Joining tensors along an axis, and cutting one up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"

namespace nn {

// y holds the inputs one after the other along `axis`, which may be negative; their other
// dimensions agree. Under Arithmetic::kTflite u8 inputs of other quantisation than the output are
// converted.
struct ConcatAttrs {
  int64_t axis = 0;
  static std::span<const AttrField> Fields();
};

// The outputs are the parts of x along `axis`, in order. Their sizes come from `sizes` or from the
// input `sizes`, where one entry may be -1 (the rest); with neither, all parts are of size
// ceil(size / number of outputs) but the last, which takes what is left.
struct SplitAttrs {
  int64_t axis = 0;
  std::vector<int64_t> sizes;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
