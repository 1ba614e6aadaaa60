// Resampling of the spatial axes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"
#include "ops/support/window.h"

namespace nn {

class EvalContext;

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
template <>
struct EnumNames<ResizeMode> {
  static constexpr std::string_view kNames[] = {"nearest", "linear", "cubic"};
};

// The position p in the input that corresponds to output element i of an axis. n is the input size,
// m the output size, s the scale.
enum class Coordinates : uint8_t {
  kHalfPixel,           // (i + 0.5) / s - 0.5
  kPytorchHalfPixel,    // the same, 0 if m is 1
  kHalfPixelSymmetric,  // n / 2 * (1 - m / (s * n)) + (i + 0.5) / s - 0.5
  kAlignCorners,  // i * (n - 1) / (m' - 1), 0 if m' is 1; m' is s * n if scales are given, else m
  kAsymmetric,    // i / s
  kTfHalfPixelForNn,  // (i + 0.5) / s
  kCrop,              // of the part [b, e] of the axis, in units of it:
                      // b * (n - 1) + i * (e - b) * (n - 1) / (m - 1), the middle if m is 1
};
template <>
struct EnumNames<Coordinates> {
  static constexpr std::string_view kNames[] = {
      "half_pixel",    "pytorch_half_pixel", "half_pixel_symmetric",
      "align_corners", "asymmetric",         "tf_half_pixel_for_nn",
      "crop"};
};

// The element that `nearest` selects for a position between two elements.
enum class NearestRounding : uint8_t {
  kRoundPreferFloor,  // the nearer one; halfway the first
  kRoundPreferCeil,   // the nearer one; halfway the second
  kFloor,
  kCeil,
  kSimple,  // kCeil on axes whose scale is below 1, kFloor on others (ONNX Resize-10 as
            // implemented)
};
template <>
struct EnumNames<NearestRounding> {
  static constexpr std::string_view kNames[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                                "ceil", "simple"};
};

// The meaning of `sizes`.
enum class AspectPolicy : uint8_t {
  kStretch,     // the sizes themselves
  kNotLarger,   // all axes are scaled by the smallest size / n ...
  kNotSmaller,  // ... by the largest; the size is then s * n, halves rounded up
};
template <>
struct EnumNames<AspectPolicy> {
  static constexpr std::string_view kNames[] = {"stretch", "not_larger", "not_smaller"};
};

// Resizes the spatial axes; batch and channels stay. Either `scales` gives s per spatial axis and
// the size is floor(s * n) (for kCrop floor(s * n * (e - b))), or `sizes` gives the size m and s is
// m / n. `roi` gives b of all axes, then e of all. Inputs of these names can replace these
// attributes.
//
// Arithmetic: s, the product s * n, and positions are computed in float32, with the operations as
// written above from left to right. Under Arithmetic::kTflite positions are those of TensorFlow
// Lite: multiplied by float(n) / float(m) (for kAlignCorners float(n - 1) / float(m - 1)) instead
// of the division by s above. Weights are functions of the distance p - floor(p), in float32; see
// ResizeAxis. Axes are interpolated one after the other, the last spatial axis first; each new
// element is the sum of its taps in ascending order, from +0 with one fused multiply-add each. Axes
// that the resize leaves unchanged are skipped. Double tensors and integers are interpolated in
// double; integers are then truncated toward zero and clamped, quantized ones rounded to nearest
// even.
struct ResizeAttrs {
  Layout layout = Layout::kNcx;
  ResizeMode mode = ResizeMode::kNearest;
  Coordinates coordinates = Coordinates::kHalfPixel;
  NearestRounding rounding = NearestRounding::kRoundPreferFloor;
  std::vector<float> scales = {};
  Dims sizes = {};
  std::vector<float> roi = {};
  AspectPolicy aspect = AspectPolicy::kStretch;
  // linear and cubic: on axes with s < 1 the filter is stretched by 1 / s.
  bool antialias = false;
  // Taps outside the axis have weight 0 and the others are normalized. If false, they read the
  // nearest element of the axis.
  bool exclude_outside = false;
  float cubic_coeff_a = -0.75f;
  // The result of kCrop for positions outside [0, n - 1].
  float extrapolation_value = 0.0f;
  static std::span<const AttrField> Fields();
};

// The elements along one spatial axis: element i of the result is the sum over its taps t of
// weight[i * taps + t] * x[index[i * taps + t]], or the extrapolation value if outside[i].
//
//   nearest  one tap of weight 1
//   linear   two taps at floor(p) and the next, p being clamped to [0, n - 1] first; weights 1 - d
//            and d, d being p - floor(p)
//   cubic    four taps from floor(p) - 1 on; with c the distance of the tap from p
//              c <= 1: ((a + 2) * c - (a + 3)) * c * c + 1
//              c <  2: ((a * c - 5 * a) * c + 8 * a) * c - 4 * a
//   antialiased, s < 1: the taps floor(p) + f to floor(p) + 1 - f, f being floor(-r / s) + 1 with
//            r = 1 for linear, 2 for cubic; weights max(0, 1 - c * s) or the cubic ones of c * s,
//            divided by their sum
struct ResizeAxis {
  int64_t taps = 1;
  std::vector<int64_t> index;
  std::vector<float> weight;
  std::vector<uint8_t> outside;

  int64_t size() const { return static_cast<int64_t>(outside.size()); }
  // Whether every element is its own only tap, so that the axis stays unchanged.
  bool IsIdentity(int64_t input_size) const;
};

// The values of the attributes or the inputs of these names. One of scales and sizes is empty.
struct ResizeNumbers {
  std::vector<float> scales;
  std::vector<int64_t> sizes;
  std::vector<float> roi;
};

// Whether the results have the sizes that are given: any size keeps the aspect of a single axis,
// also of an empty one.
inline bool TakesSizes(const ResizeAttrs& attrs, size_t axes) {
  return attrs.aspect == AspectPolicy::kStretch || axes == 1;
}
// The sizes of the spatial axes after resizing `input`. kModel if there is not one number per axis,
// a scale is not positive, or a size is negative.
Result<std::vector<int64_t>> ResizedSizes(const ResizeAttrs& attrs, const ResizeNumbers& numbers,
                                          std::span<const int64_t> input);

// The spatial axes for an evaluation; `output` is the result of ResizedSizes.
Result<std::vector<ResizeAxis>> ResizeAxes(const ResizeAttrs& attrs, Arithmetic arithmetic,
                                           const ResizeNumbers& numbers,
                                           std::span<const int64_t> input,
                                           std::span<const int64_t> output);

// TensorFlow Lite's reference kernel of RESIZE_BILINEAR for quantized types, on two spatial axes:
// in float32 for u8, in integers for i8 and i16 (resize_tflite.cc).
Status EvalTfliteBilinear(EvalContext& ctx, std::span<const int64_t> input,
                          std::span<const int64_t> output);

}  // namespace nn
