// Selecting elements along axes at regular distances.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/dim.h"

namespace nn {

// Along each of `axes` (none given: the first ones): the elements from `starts` on, up to but not
// including `ends`, `steps` apart (none given: 1). A negative start or end counts from the end of
// the axis; what lies outside it is cut off, so INT64_MAX stands for its end, and with a negative
// step INT64_MIN for its beginning. This is ONNX's rule; NumPy's differs for a negative step and a
// start before the first element, of which NumPy takes nothing and ONNX the first element. In place
// of the attributes there may be inputs of these names.
struct SliceAttrs {
  std::vector<int64_t> axes;
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  std::vector<int64_t> steps;
  static std::span<const AttrField> Fields();
};

// What a slice takes of an axis of known size: `count` elements from `start` on, `step` apart.
struct SliceRange {
  int64_t start, step, count;
};
Result<SliceRange> RangeOf(int64_t start, int64_t end, int64_t step, int64_t size);

// reverse: the elements along `axes` in opposite order.
struct ReverseAttrs {
  std::vector<int64_t> axes;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
