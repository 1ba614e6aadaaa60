// dynamic_fake_quantize: float32 numbers as a kernel reads them that stores its input in 8 bits,
// with a scale for each row. A product of them and of dequantized weights is the result of
// TensorFlow Lite's hybrid kernels, up to the rounding of float32 sums.
//
// Symmetric, with r = max |x|:
//   scale = r / 127, y = scale * round(x * (127 / r))
// Asymmetric, with low = min(0, x...) and high = max(0, x...):
//   scale = (high - low) / 255, zero = round(-128 - low * 255 / (high - low)) in [-128, 127]
//   y = scale * (q - zero) with q = round(zero + x * (1 / scale)) in [-128, 127]
// Halves are rounded away from zero. Rows whose r, or high - low, is below 2^-120 become zeros, and
// those whose r, or high - low, is not finite become NaN.
//
// Source: tflite/kernels/internal/reference/portable_tensor_utils.cc,
// PortableSymmetricQuantizeFloats and PortableAsymmetricQuantizeFloats. The zero point is computed
// in float64 there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/attrs.h"

namespace nn {

struct DynamicFakeQuantizeAttrs {
  std::vector<int64_t> axes;  // of a row, which has the scale; not empty, in ascending order
  bool symmetric = true;
  static std::span<const AttrField> Fields();
};

// The numbers that a row is rounded to.
struct RowGrid {
  float scale = 1;
  float inverse = 1;  // steps in 1
  float zero = 0;     // a whole number; 0 if symmetric
  bool symmetric = true;
};

// Of the smallest and largest of the elements and 0, which are NaN if an element is.
RowGrid RowGridOf(float low, float high, bool symmetric);

// The element of a row as the grid represents it.
float Rounded(const RowGrid& grid, float x);

// One row.
std::vector<float> FakeQuantizedRow(std::span<const float> x, bool symmetric);

// How a recurrent layer rounds its state before it multiplies it by weights: a row for each
// sequence.
enum class StateRounding : uint8_t { kNone, kSymmetric, kAsymmetric };
template <>
struct EnumNames<StateRounding> {
  static constexpr std::string_view kNames[] = {"none", "symmetric", "asymmetric"};
};

}  // namespace nn
