// Selecting elements by indices. A negative index counts from the end of its axis; an index out of
// range is a run-time error (kModel).
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "ir/attrs.h"

namespace nn {

// The shape of y is that of x with `axis` replaced by the axes of `indices`:
//   y[a..., i..., b...] = x[a..., indices[i...], b...]
// The first batch_dims axes are common to x and indices: y has them once, and each batch has its
// own indices. batch_dims must be at most axis. Negative axis and batch_dims count from the end of
// x and indices.
struct GatherAttrs {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  static std::span<const AttrField> Fields();
};

// y has the shape of indices, which has the rank of x:
//   y[i, j, ...] = x with its index on `axis` replaced: x[indices[i, j, ...], j, ...] for axis 0
struct GatherElementsAttrs {
  int64_t axis = 0;
  static std::span<const AttrField> Fields();
};

// The last axis of indices, of size k, addresses k axes of x, starting after the batch_dims common
// axes:
//   y[b..., i..., r...] = x[b..., indices[b..., i..., 0], ..., indices[b..., i..., k - 1], r...]
struct GatherNdAttrs {
  int64_t batch_dims = 0;
  static std::span<const AttrField> Fields();
};

// Converts an index in [-size, size) to [0, size); kModel if it is out of range.
Result<int64_t> CheckIndex(int64_t index, int64_t size);

}  // namespace nn
