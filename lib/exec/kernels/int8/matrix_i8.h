// The matrix micro-kernel for 8-bit integers, with TensorFlow Lite's rescaling or with the sums as
// results.
//
// sum[m, n] = sum over k of (a[m, k] - a_zero) * (b[k, n] - b_zero[n]) + bias[n], in int32, exact
// in any order; y = clamp(Rescale(sum, multiplier[n]) + y_zero). Rows of `a` consist of runs as in
// matrix_f32.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/file/blob.h"
#include "exec/kernels/int8/byte_result.h"
#include "exec/kernels/int8/rescale_table.h"
#include "exec/kernels/product_form.h"

namespace nn {

// A packed right matrix with all data of its columns. Its form depends on the SIMD target selected
// when it was packed; it can be used only with that target.
struct PackedI8 {
  size_t depth = 0;    // k
  size_t columns = 0;  // n
  ProductForm form;
  // [n / 16][k / form.taps][16][form.taps] of int16 or, with four taps, of int8.
  Buffer weights;
  bool row_sums = false;             // four taps: b_zero is not 0, sums over rows of `a` are needed
  std::vector<int32_t> bias;         // per column, corrected for the zero point of `a`
  std::vector<int32_t> b_zero;       // four taps: what remains to be subtracted, per column
  std::vector<int32_t> weight_sums;  // per column: the sum over k of b - b_zero, modulo 2^32
  RescaleTable rescale;  // per column, rounded up to whole panels; empty without multipliers
};

struct MatrixI8Weights {
  // Element (k, n) is b[k_offsets[k] + n * n_stride].
  const uint8_t* b = nullptr;
  std::vector<size_t> k_offsets;
  size_t n = 0, n_stride = 0;
  bool is_signed = false;
  int32_t a_zero = 0;
  std::vector<int32_t> b_zero;               // one or n
  std::vector<int32_t> bias;                 // empty or n
  std::vector<FixedMultiplier> multipliers;  // n; empty: only sums are computed
};

// `a_signed`: whether the left matrix is int8 (otherwise uint8).
PackedI8 PackMatrixI8(const MatrixI8Weights& weights, bool a_signed);

struct MatrixI8 {
  const uint8_t* const* rows = nullptr;  // as in MatrixF32
  size_t row_pitch = 0;
  size_t run_count = 1;
  size_t run_length = 0;
  size_t row_count = 0;
  const PackedI8* packed = nullptr;
  size_t first_column = 0;  // a multiple of 16
  size_t column_count = 0;
  uint8_t* out = nullptr;  // [m, first_column...]
  size_t out_stride = 0;
  ByteResult result;
  // One factor per column, or null. With factors the sum is multiplied in double precision and
  // rounded, halves away from zero, instead of Rescale.
  const double* factors = nullptr;
  // With one of these the results are the sums modulo 2^32, or the sums rounded to float32, in
  // place of `out`. `result` says whether the left matrix is signed.
  int32_t* sums = nullptr;
  float* reals = nullptr;
  // Replaces the bias of the packed matrix, from `first_column` on, with whole panels; or null. For
  // a zero point z of the left matrix that is known only now: bias - z * weight_sums of a matrix
  // that was packed for 0.
  const int32_t* bias = nullptr;
};

// The maximum number of rows of a block.
inline constexpr size_t kMatrixI8Rows = 96;

void RunMatrixI8(const MatrixI8& block);

}  // namespace nn
