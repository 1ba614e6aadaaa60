// Elementwise kernels on rows of float32.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "ops/functions.h"

namespace nn {

// A function by its place in the lists of ops/functions.h.
std::optional<size_t> UnaryFunctionId(std::string_view op);
std::optional<size_t> BinaryFunctionId(std::string_view op);

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

// y[i] = x[i] * scale[i] + shift[i], rounded twice; y may be x.
void RunMulAddF32(const float* x, const float* scale, const float* shift, float* y, size_t n);

// y[i] = a[i] * b[i] + c[i], rounded once; y may be any of them.
void RunFmaF32(const float* a, const float* b, const float* c, float* y, size_t n);

}  // namespace nn
