// Sampling at positions that another tensor gives.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"
#include "ops/resize.h"
#include "ops/window.h"

namespace nn {

// What lies beyond the spatial axes of x.
enum class GridPadding : uint8_t {
  kZeros,
  kBorder,      // the nearest element
  kReflection,  // the axis in opposite order, and so on; mirrored at its first and last element if
                // align_corners is set, at their outer edges if not
};
template <>
struct EnumNames<GridPadding> {
  static constexpr std::string_view kNames[] = {"zeros", "border", "reflection"};
};

// grid holds, for each image and each position of the spatial axes of y, a position in x: one
// number for each spatial axis, the last axis first. -1 and 1 are the centres of the first and last
// element of the axis (align_corners) or their outer edges:
//   p = (g + 1) / 2 * (n - 1)   or   p = ((g + 1) * n - 1) / 2
// Positions beyond +-2^30 count as that, NaN as -2^30. `nearest` rounds p, halves to even; then p
// outside the axis (outside its outer edges without align_corners) is clamped to [0, n - 1] or
// reflected. `linear` takes two elements around p on each axis, `cubic` four with a = -0.75;
// elements outside are those of the padding. Weights are those of ResizeAxis.
//
// Arithmetic: in float32, in double if x or grid is double or x is of integers. Interpolated is the
// last spatial axis first, each sum in ascending order from +0 on with one fused multiply-add a
// tap. Integers are truncated toward zero at the end.
struct GridSampleAttrs {
  Layout layout = Layout::kNcx;
  ResizeMode mode = ResizeMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
  static std::span<const AttrField> Fields();
};

// affine_grid(theta, size): for each image and each position of the spatial axes of `size` ([N, C,
// spatial...], 2 or 3 of them) the product of the matrix theta[n] and the vector of the position's
// coordinates, last axis first, and 1. Coordinate i of an axis of n elements is
//   fma(i, 2 / (n - 1), -1) (align_corners; 0 if n is 1)   or   fma(i, 2 / n, -1 + 1 / n)
// The sum is a dot product of the arithmetic contract.
struct AffineGridAttrs {
  bool align_corners = false;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
