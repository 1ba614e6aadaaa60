// Sampling at positions given by another tensor.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/window.h"

namespace nn {

// The elements outside the spatial axes of x.
enum class GridPadding : uint8_t {
  kZeros,
  kBorder,      // the nearest element
  kReflection,  // the axis reversed, and so on; mirrored at its first and last element if
                // align_corners is set, at their outer edges if not
};
template <>
struct EnumNames<GridPadding> {
  static constexpr std::string_view kNames[] = {"zeros", "border", "reflection"};
};

// grid holds, for each image and each position of the spatial axes of y, a position in x: one
// number per spatial axis, the last axis first. -1 and 1 are the centers of the first and last
// element of the axis (align_corners) or their outer edges:
//   p = (g + 1) / 2 * (n - 1)   or   p = ((g + 1) * n - 1) / 2
// Positions beyond +-2^30 are clamped to it; NaN counts as -2^30. `nearest` rounds p, halves to
// even; then p outside the axis (outside its outer edges without align_corners) is clamped to [0, n
// - 1], except by `cubic`, or reflected. `linear` takes two elements around p on each axis, `cubic`
// four with a = -0.75; elements outside come from the padding. Weights are those of ResizeAxis.
// These are the rules of PyTorch's grid_sample, to which ONNX refers.
//
// Arithmetic: float32, or double if x or grid is double or x is an integer tensor. The last spatial
// axis is interpolated first; each sum is in ascending order from +0 with one fused multiply-add
// per tap. Integers are truncated toward zero at the end.
struct GridSampleAttrs {
  Layout layout = Layout::kNcx;
  ResizeMode mode = ResizeMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
  static std::span<const AttrField> Fields();
};

// affine_grid(theta, size): for each image and each position of the spatial axes of `size` ([N, C,
// spatial...], 2 or 3 of them), the product of the matrix theta[n] and the vector of the position's
// coordinates, last axis first, and 1. Coordinate i of an axis of n elements is
//   fma(i, 2 / (n - 1), -1) (align_corners; 0 if n is 1)   or   fma(i, 2 / n, -1 + 1 / n)
// The sum is a dot product of the arithmetic contract.
struct AffineGridAttrs {
  bool align_corners = false;
  static std::span<const AttrField> Fields();
};

// Coordinate i of an axis of n elements, in float or double.
template <typename T>
T AffineCoordinate(int64_t i, int64_t n, bool align_corners);

}  // namespace nn
