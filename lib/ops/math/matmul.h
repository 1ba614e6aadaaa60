// Matrix product: attributes and geometry.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"

namespace nn {

// y[..., m, n] = sum over k of a[..., m, k] * b[..., k, n]   (+ bias[n])
// The leading axes broadcast (NumPy's rules); transposing swaps the last two axes of an operand. A
// one-dimensional operand is a row (a) or a column (b), whose axis is missing from the result.
//
// Quantized types: `b` may have one scale for each n. Arithmetic kTflite is FULLY_CONNECTED, which
// rescales in double (16-bit weights: in fixed point); kTfliteFixed is BATCH_MATMUL.
//
// matmul_integer multiplies u8 and i8 integers, whatever they represent, to i32:
//   y[..., m, n] = sum over k of (a[..., m, k] - za) * (b[..., k, n] - zb)   (+ bias[n])
// The zero points za and zb have the type of their operand and broadcast to it. Sums wrap.
struct MatmulAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  static std::span<const AttrField> Fields();
};

// A product whose shapes are known. Steps are distances in elements; a broadcast axis has step 0.
struct MatmulGeometry {
  int64_t m, n, k;
  std::vector<int64_t> batch;             // sizes of the leading axes of y
  std::vector<int64_t> a_batch, b_batch;  // steps of the operands along them
  int64_t a_m, a_k, b_k, b_n;             // steps

  int64_t batch_count() const;
};
Result<MatmulGeometry> GeometryOf(const MatmulAttrs& attrs, const std::vector<int64_t>& a,
                                  const std::vector<int64_t>& b);

// A rewrite for target formats without transposed operands: transposes them by separate nodes. Do
// not use it with target formats that prefer transposed operands, whose rewrites would undo it.
Result<bool> TransposeMatmulOperands(Graph& graph, Node& node);

}  // namespace nn
