// Elementwise kernels on rows of float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "numeric/functions.h"

namespace nn {

// A function, as its index in the lists of numeric/functions.h.
std::optional<size_t> UnaryFunctionId(std::string_view op);
std::optional<size_t> BinaryFunctionId(std::string_view op);

// Rows of an operand and of the result, n elements each; they may alias.
struct RowsF32 {
  const float* x = nullptr;
  size_t x_stride = 0;
  float* y = nullptr;
  size_t y_stride = 0;
  size_t count = 1;
  size_t n = 0;
  // y exceeds every cache and is not read soon: use nontemporal stores.
  bool streams = false;
  // For a function f of one operand: y = x f(x), rounded twice.
  bool times_x = false;

  // Whether the rows are contiguous, so that they also form one long row.
  bool IsDense() const { return x_stride == n && y_stride == n; }
  RowsF32 Joined() const { return {x, count * n, y, count * n, 1, count * n, streams, times_x}; }
};

// The other operand of a binary function; its rows may alias the result.
struct OtherRows {
  const float* const* rows = nullptr;  // per row
  bool scalar = false;                 // one element applies to the whole row
  bool left = false;                   // f(other, x) instead of f(x, other)
};

// y = f(x)
void RunUnaryRowsF32(size_t function, const FunctionParams& params, const RowsF32& rows);
// y = f(x, other)
void RunBinaryRowsF32(size_t function, const RowsF32& rows, const OtherRows& other);
// y = x * scale + shift, rounded twice; one scale and shift per element of a row.
void RunMulAddRowsF32(const RowsF32& rows, const float* scale, const float* shift);

// y[i] = f(x[i]); x and y may alias.
void RunUnaryF32(size_t function, const FunctionParams& params, const float* x, float* y, size_t n);

// How the operands of a binary function step along a row.
enum class BinaryForm : uint8_t {
  kVectorVector,
  kVectorScalar,  // b[0] for all
  kScalarVector,  // a[0] for all
};

// y[i] = f(a[i], b[i]); y may alias a or b.
void RunBinaryF32(size_t function, BinaryForm form, const float* a, const float* b, float* y,
                  size_t n);

// y[i] = a[i] * b[i] + c[i], rounded once; y may alias any of them.
void RunFmaF32(const float* a, const float* b, const float* c, float* y, size_t n);

// The bits of NaN in outputs; processors produce different ones.
inline constexpr uint32_t kNanBits = 0x7FC00000;

// Gives every NaN these bits.
void SetOneNanF32(float* x, size_t n);

}  // namespace nn
