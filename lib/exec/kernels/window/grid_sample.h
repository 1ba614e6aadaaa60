// Sampling of images of float32, channels last, at positions given by a grid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ops/nn/resize/grid_sample.h"

namespace nn {

// The maximum number of points per call.
inline constexpr size_t kGridPoints = 128;

// A spatial axis of the image for some points: the elements to read, -1 for zero, and their
// weights. The mode determines how many are used.
struct GridTapsF32 {
  alignas(64) std::array<std::array<int32_t, kGridPoints>, 4> index;
  alignas(64) std::array<std::array<float, kGridPoints>, 4> weight;
};

// Converts the numbers of a grid to elements of one axis. Requires 0 < size < 2^24.
struct GridAxisF32 {
  ResizeMode mode = ResizeMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
  int64_t size = 1;
};
// Reads n <= kGridPoints numbers, `stride` elements apart.
void RunGridAxisF32(const GridAxisF32& axis, const float* grid, size_t stride, size_t n,
                    GridTapsF32& taps);

// out[i * out_stride + c] for i < n <= kGridPoints, c < channels; 1 to 3 axes. The image has fewer
// than 2^31 elements.
struct GridPointsF32 {
  ResizeMode mode = ResizeMode::kLinear;
  size_t axes = 2;
  const GridTapsF32* taps = nullptr;  // per axis
  std::array<int32_t, 3> strides{};   // stride of each axis in x, in elements
  const float* x = nullptr;
  size_t n = 0;
  size_t channels = 0;
  float* out = nullptr;
  size_t out_stride = 0;
};
void RunGridPointsF32(const GridPointsF32& points);

}  // namespace nn
