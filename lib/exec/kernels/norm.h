// Normalization of float32 (ops/nn/norm.h): statistics of rows and columns, and their application.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace nn {

// The result for an element x of a row: d = x - mean or d = x, then
enum class NormResult : uint8_t {
  kTimes,            // d * factor
  kTimesScale,       // d * factor * scale
  kTimesScaleShift,  // d * factor * scale + bias, the last two fused
  kOver,             // d / factor
  kOverOrZero,       // the same, 0 for a factor of 0
};

// How the factor is computed from the n elements d of a row.
struct NormRule {
  enum class Spread : uint8_t { kNone, kSquares, kMagnitudes };  // kNone: the factor is 1
  enum class Root : uint8_t { kNone, kInside, kOutside, kFloor };

  bool centered = false;  // d = x - mean
  Spread spread = Spread::kSquares;
  bool mean = false;  // the mean of the squares or magnitudes; otherwise their sum
  Root root = Root::kInside;
  float epsilon = 0.0f;
  bool inverse = false;  // 1 / root

  // The factor for the sum of squares or magnitudes.
  float Factor(float sum, size_t n) const {
    float v = mean ? sum / static_cast<float>(static_cast<int64_t>(n)) : sum;
    if (root == Root::kInside) v = std::sqrt(v + epsilon);
    if (root == Root::kOutside) v = std::sqrt(v) + epsilon;
    if (root == Root::kFloor) {
      v = std::sqrt(v);
      v = epsilon > v ? epsilon : v;
    }
    return inverse ? 1.0f / v : v;
  }
};

// shift[r] = the mean, or 0, and factor[r] of row r, whose n elements are x[r * stride], ...
void NormRowStatisticsF32(const NormRule& rule, const float* x, size_t stride, size_t rows,
                          size_t n, float* shift, float* factor);

// The same of column c, whose elements are x[offsets[0] + c], x[offsets[1] + c], ...
void NormColumnStatisticsF32(const NormRule& rule, const float* x, const int64_t* offsets, size_t n,
                             size_t columns, float* shift, float* factor);

// A block of elements; y must not alias x.
struct NormBlock {
  const float* x = nullptr;
  size_t x_stride = 0;
  float* y = nullptr;
  size_t y_stride = 0;
  size_t rows = 0, columns = 0;
};

// Normalizes by the shift and factor of each row. scale[c] and bias[c], or the first ones for all
// columns, apply to every row; unused ones may be null.
void NormalizeRowsF32(NormResult result, const NormBlock& block, const float* shift,
                      const float* factor, const float* scale, bool one_scale, const float* bias,
                      bool one_bias);

// The same by the shift, factor, scale and bias of each column.
void NormalizeColumnsF32(NormResult result, const NormBlock& block, const float* shift,
                         const float* factor, const float* scale, const float* bias);

// Local response normalization of rows of channels: y = x / (alpha * s + bias)^beta, s the sum of
// the squares of the channels c - before .. c + after that exist. `squares` holds before + after +
// block.columns + 16 elements.
struct LrnWindow {
  size_t before = 0, after = 0;
  float alpha = 0.0f, beta = 0.0f, bias = 0.0f;
};
void LrnRowsF32(const LrnWindow& window, const NormBlock& block, float* squares);

}  // namespace nn
