// Selecting elements along axes at regular steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"
#include "ir/types/dim.h"

namespace nn {

// Along each of `axes` (empty: the first ones): the elements from `starts` up to but excluding
// `ends`, `steps` apart (empty: 1). A negative start or end counts from the end of the axis; bounds
// outside the axis are clamped, so INT64_MAX means its end and, with a negative step, INT64_MIN its
// beginning. This is ONNX's rule; NumPy's differs for a negative step and a start before the first
// element, where NumPy selects nothing and ONNX the first element. Inputs of these names can
// replace the attributes.
struct SliceAttrs {
  std::vector<int64_t> axes;
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  std::vector<int64_t> steps;
  static std::span<const AttrField> Fields();
};

// The elements of an axis of known size that a slice selects: `count` elements from `start`, `step`
// apart.
struct SliceRange {
  int64_t start, step, count;
};
Result<SliceRange> RangeOf(int64_t start, int64_t end, int64_t step, int64_t size);

// Of a slice whose starts are an input, of known length: the axes, from 0 on. They are constant,
// and the rank of x is known.
std::vector<int64_t> AxesOfComputedSlice(const Node& slice);

// reverse: reverses the elements along `axes`.
struct ReverseAttrs {
  std::vector<int64_t> axes;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
