// Elementwise kernels on rows of float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/functions.h"

namespace nn {

// A function by its place in the lists of ops/functions.h.
std::optional<size_t> UnaryFunctionId(std::string_view op);
std::optional<size_t> BinaryFunctionId(std::string_view op);

// Rows of an operand and of the result, n elements each; both may be the same.
struct RowsF32 {
  const float* x = nullptr;
  size_t x_stride = 0;
  float* y = nullptr;
  size_t y_stride = 0;
  size_t count = 1;
  size_t n = 0;
  // y is too large for every cache, and not read soon: it is written past them.
  bool streams = false;
  // Of a function f of one operand: y = x f(x), rounded twice.
  bool times_x = false;

  // Whether the rows follow one another, so that they are one long row as well.
  bool IsDense() const { return x_stride == n && y_stride == n; }
  RowsF32 Joined() const { return {x, count * n, y, count * n, 1, count * n, streams, times_x}; }
};

// The other operand of a binary function; its rows may be those of the result.
struct OtherRows {
  const float* const* rows = nullptr;  // of each row
  bool scalar = false;                 // one element serves the whole row
  bool left = false;                   // f(other, x) instead of f(x, other)
};

// y = f(x)
void RunUnaryRowsF32(size_t function, const FunctionParams& params, const RowsF32& rows);
// y = f(x, other)
void RunBinaryRowsF32(size_t function, const RowsF32& rows, const OtherRows& other);
// y = x * scale + shift, rounded twice; a scale and a shift for each element of a row.
void RunMulAddRowsF32(const RowsF32& rows, const float* scale, const float* shift);

// y[i] = f(x[i]); x and y may be the same.
void RunUnaryF32(size_t function, const FunctionParams& params, const float* x, float* y, size_t n);

// How the operands of a binary function step along a row.
enum class BinaryForm : uint8_t {
  kVectorVector,
  kVectorScalar,  // b[0] for all
  kScalarVector,  // a[0] for all
};

// y[i] = f(a[i], b[i]); y may be a or b.
void RunBinaryF32(size_t function, BinaryForm form, const float* a, const float* b, float* y,
                  size_t n);

// y[i] = a[i] * b[i] + c[i], rounded once; y may be any of them.
void RunFmaF32(const float* a, const float* b, const float* c, float* y, size_t n);

// Bits of the NaN that outputs hold; processors make different ones.
inline constexpr uint32_t kNanBits = 0x7FC00000;

// Gives every NaN these bits.
void SetOneNanF32(float* x, size_t n);

}  // namespace nn
