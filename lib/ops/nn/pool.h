// Pooling over sliding windows. Global pooling is a reduction (ops/reduce/reduce.h).
//
// Taps in padding are skipped. The others are visited in order of position (row-major):
//   max_pool      m = x > m ? x : m from -infinity; NaN if any tap is NaN; of equal taps the first
//   average_pool  the sum, added one by one from +0, divided by the count
//   lp_pool       the sum of |x|^p, divided by the count if `average`, to the power 1 / p;
//                 |x| for p = 1, x * x and the square root for p = 2
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"
#include "ir/graph.h"
#include "ops/support/window.h"

namespace nn {

struct PoolAttrs {
  Layout layout = Layout::kNcx;
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;    // per spatial axis; empty: all 1
  std::vector<int64_t> dilations;  // per spatial axis; empty: all 1
  std::vector<int64_t> pads;       // begins, then ends; empty: none
  Padding padding = Padding::kExplicit;
  bool ceil_mode = false;  // see WindowSpec
};

// Output `indices` (i64): for each window the index of its maximum in x, counted in a
// channels-first tensor whatever the layout; -1 for a window without taps. With storage_order 1 the
// spatial axes of a channel are counted in column-major order.
struct MaxPoolAttrs : PoolAttrs {
  int64_t storage_order = 0;
  static std::span<const AttrField> Fields();
};

// The count is the number of taps, or with count_include_pad the number of kernel positions up to
// the end of the padding.
struct AveragePoolAttrs : PoolAttrs {
  bool count_include_pad = false;
  static std::span<const AttrField> Fields();
};

struct LpPoolAttrs : PoolAttrs {
  float p = 2.0f;
  bool average = false;  // the mean instead of the sum: TensorFlow Lite's L2 pooling
  static std::span<const AttrField> Fields();
};

// Writes the elements of x at the indices `indices` of an output of zeros. The indices refer to a
// channels-first tensor of the natural size, (input - 1) * stride - pads + kernel. With
// output_shape the result has that size, and elements keep their coordinates of the natural size.
// If it is not known it comes from the input `output_shape`, the shape of a channels-first result.
struct MaxUnpoolAttrs {
  Layout layout = Layout::kNcx;
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;  // per spatial axis; empty: all 1
  std::vector<int64_t> pads;     // begins, then ends; empty: none
  Dims output_shape;             // per spatial axis; empty: the natural size
  static std::span<const AttrField> Fields();
};

// The windows over input 0 of a pooling node; sizes may be symbolic.
Result<std::vector<Window>> PoolWindows(const PoolAttrs& attrs, const Dims& input);

}  // namespace nn
