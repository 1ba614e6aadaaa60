// The matrix micro-kernel for float32, for matrix products and convolutions.
//
// y[m, n] = epilogue(sum over k of a[m, k] * b[k, n]), with the sum from +0 in order of k and one
// fused multiply-add each. Row m of `a` consists of runs: `run_count` pieces of memory, consecutive
// in k, so that a convolution reads its input in place (one run per kernel position).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nn {

// Columns of a packed panel, the same for every SIMD target.
inline constexpr size_t kPanelWidth = 16;

// The fastest block sizes: up to kMatrixF32Rows rows, and either few rows or many columns.
inline constexpr size_t kMatrixF32Rows = 128;
inline constexpr size_t kMatrixF32FewRows = 4;
inline constexpr size_t kMatrixF32ManyColumns = 8 * kPanelWidth;

// The operations on a finished sum, in this order; null pointers skip a step.
struct EpilogueF32 {
  const float* bias = nullptr;   // [n] added; without it +0 is added
  const float* scale = nullptr;  // [n] y = y * scale + shift, rounded twice
  const float* shift = nullptr;
  const float* residual = nullptr;  // [m, n] added, rows residual_stride apart
  size_t residual_stride = 0;
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();

  // Whether min and max have an effect.
  bool bounded() const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return min != -kInfinity || max != kInfinity;
  }
};

// Panels of integers of 2, 4 or 8 bits, which represent (q - zero) * scale, rounded twice. The
// kernel unpacks the part of a few panels that it is about to use.
struct BlockPanels {
  // From `begin` to the next segment, all k of a column have the same scale: that of `block`.
  struct Segment {
    uint32_t begin, block;
  };

  int bits = 4;
  size_t k = 0;
  // [panel][line][16]: a line holds 8 / bits steps of k, the first in the lowest bits.
  std::vector<uint8_t> lines;
  std::vector<Segment> segments;
  size_t blocks = 0;          // of a column
  std::vector<float> scales;  // [panel][block][16]
  std::vector<float> zeros;   // the same, or one for all

  size_t steps() const { return 8 / static_cast<size_t>(bits); }  // of a line
  size_t panel_lines() const { return (k + steps() - 1) / steps(); }
  size_t bytes() const {
    return lines.size() + (scales.size() + zeros.size()) * sizeof(float) +
           segments.size() * sizeof(Segment);
  }
};

struct MatrixF32 {
  // Start of run r of row m: rows[r * row_pitch + m]. Each run has run_length elements.
  const float* const* rows = nullptr;
  size_t row_pitch = 0;
  size_t run_count = 1;
  size_t run_length = 0;
  size_t row_count = 0;  // m
  // The number of each run in the panels, if some are skipped; null: all of them.
  const uint16_t* run_numbers = nullptr;
  size_t panel_runs = 0;  // runs in the panels, with run_numbers
  // Packed by PackPanels: panel p holds columns [16p, 16p + 16) as [k][16].
  const float* panels = nullptr;
  // Instead of `panels`, with one run: the panels from this one on.
  const BlockPanels* blocks = nullptr;
  size_t first_panel = 0;
  size_t column_count = 0;  // n
  float* out = nullptr;     // [m, n], rows out_stride apart
  size_t out_stride = 0;
  EpilogueF32 epilogue;
};

// Computes the whole block on the calling thread.
void RunMatrixF32(const MatrixF32& block);

// Elements of a packed matrix of n columns.
size_t PackedSize(size_t k, size_t n);

// Packs element (k, n) from b[k * k_stride + n * n_stride]; columns beyond n are zero. `b` may be
// unaligned bytes of float32.
void PackPanels(const std::byte* b, size_t k, size_t n, size_t k_stride, size_t n_stride,
                float* out);

}  // namespace nn
