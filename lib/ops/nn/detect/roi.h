// Pooling of regions of images.
//
// x is a batch of images with two spatial axes; its channels are kept. Coordinates of regions are
// multiplied by spatial_scale. Computed in float32, or double for f64; x and rois have one type.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"
#include "ops/support/window.h"

namespace nn {

enum class RoiMode : uint8_t { kAvg, kMax };
template <>
struct EnumNames<RoiMode> {
  static constexpr std::string_view kNames[] = {"avg", "max"};
};

// roi_align(x, rois, batch): rois [R, 4] holds x1, y1, x2, y2 of each region, and batch [R] the
// image (ONNX RoiAlign-22). On each axis, the region is divided into `height` or `width` bins with
// n samples:
//   start = c1 * scale - offset      size = (c2 * scale - offset) - start
//   bin = size / bins                p = (start + b * bin) + ((i + 0.5) * bin) / n
// half_pixel: the offset is 0.5; else 0, and size is at least 1. n is sampling_ratio, or if that is
// 0 ceil(bin), at least 0 and at most 2^30. Samples with p outside [-1, axis size] are 0. Others
// interpolate the elements at floor(p) and the next one, with p clamped to [0, axis size - 1]:
// their weights on an axis are 1 - d and d with d = p - floor(p), and products of those of both
// axes.
//   avg  each sample is the sum of its four products in row-major order, fused, from +0; y is the
//        sum of the samples of a bin, one by one, divided by their number
//   max  the largest product of all samples, or NaN if one is NaN: what ONNX's reference
//        implementation computes, which is not the maximum of the interpolated values
// Samples are in row-major order. A bin without samples is 0.
struct RoiAlignAttrs {
  Layout layout = Layout::kNcx;
  RoiMode mode = RoiMode::kAvg;
  int64_t height = 1;
  int64_t width = 1;
  int64_t sampling_ratio = 0;
  float spatial_scale = 1;
  bool half_pixel = true;
  static std::span<const AttrField> Fields();
};

// max_roi_pool(x, rois): rois [R, 5] holds the image and x1, y1, x2, y2 of each region (ONNX
// MaxRoiPool-22). On each axis, the region starts at s = round(c1 * scale), halves away from zero,
// and has n = max(round(c2 * scale) - s + 1, 1) elements. Bin b holds the elements
// s + floor(b * (n / bins)) to s + ceil((b + 1) * (n / bins)) - 1 that exist. y is the largest
// element of a bin, NaN if one is NaN, and 0 if there is none. Coordinates are clamped to +-2^30,
// and NaN counts as -2^30. The fraction of the image's number is ignored.
struct MaxRoiPoolAttrs {
  Layout layout = Layout::kNcx;
  int64_t height = 1;
  int64_t width = 1;
  float spatial_scale = 1;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
