// Concatenating tensors along an axis and splitting a tensor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"

namespace nn {

// y is the concatenation of the inputs along `axis`, which may be negative; their other dimensions
// must agree. Under Arithmetic::kTflite, u8 inputs with a different quantization than the output
// are converted.
struct ConcatAttrs {
  int64_t axis = 0;
  static std::span<const AttrField> Fields();
};

// The outputs are the parts of x along `axis`, in order. Their sizes come from `sizes` or from the
// input `sizes`, where one entry may be -1 (the rest). With neither, all parts have size ceil(size
// / number of outputs) except the last, which takes the rest.
struct SplitAttrs {
  int64_t axis = 0;
  std::vector<int64_t> sizes;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
