#include "exec/kernels/elementwise.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/elementwise.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"
#include "ops/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D = hn::CappedTag<float, 16>;
using M = SimdMachine<D>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());

// Whole vectors; then the rest as one more, through padded copies, so that each function is
// compiled once.
template <template <class> class F>
HWY_NOINLINE void UnaryRow(const FunctionParams& params, const float* x, float* y, size_t n) {
  const D d;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(F<M>::Run(hn::LoadU(d, x + i), params), d, y + i);
  if (i == n) return;
  HWY_ALIGN float piece[kLanes] = {};
  std::memcpy(piece, x + i, (n - i) * sizeof(float));
  UnaryRow<F>(params, piece, piece, kLanes);
  std::memcpy(y + i, piece, (n - i) * sizeof(float));
}

// An operand advances by a step of kLanes for each vector, or by 0 when one vector serves all.
template <template <class> class F>
HWY_NOINLINE void BinaryRow(const float* a, size_t a_step, const float* b, size_t b_step, float* y,
                            size_t n) {
  const D d;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(F<M>::Run(hn::LoadU(d, a), hn::LoadU(d, b)), d, y + i);
    a += a_step;
    b += b_step;
  }
  if (i == n) return;
  HWY_ALIGN float piece_a[kLanes] = {};
  HWY_ALIGN float piece_b[kLanes] = {};
  std::memcpy(piece_a, a, (n - i) * sizeof(float));
  std::memcpy(piece_b, b, (n - i) * sizeof(float));
  BinaryRow<F>(piece_a, kLanes, piece_b, kLanes, piece_a, kLanes);
  std::memcpy(y + i, piece_a, (n - i) * sizeof(float));
}

void Unary(size_t function, const FunctionParams& params, const float* x, float* y, size_t n) {
  using Fn = void (*)(const FunctionParams&, const float*, float*, size_t);
  static constexpr Fn kTable[] = {
#define NN_ROW(name, fn) &UnaryRow<fn>,
      NN_UNARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
  };
  kTable[function](params, x, y, n);
}

void Binary(size_t function, BinaryForm form, const float* a, const float* b, float* y, size_t n) {
  using Fn = void (*)(const float*, size_t, const float*, size_t, float*, size_t);
  static constexpr Fn kTable[] = {
#define NN_ROW(name, fn) &BinaryRow<fn>,
      NN_BINARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
  };
  const D d;
  HWY_ALIGN float scalar[kLanes];
  switch (form) {
    case BinaryForm::kVectorVector:
      kTable[function](a, kLanes, b, kLanes, y, n);
      break;
    case BinaryForm::kVectorScalar:
      hn::Store(hn::Set(d, b[0]), d, scalar);
      kTable[function](a, kLanes, scalar, 0, y, n);
      break;
    case BinaryForm::kScalarVector:
      hn::Store(hn::Set(d, a[0]), d, scalar);
      kTable[function](scalar, 0, b, kLanes, y, n);
      break;
  }
}

void MulAdd(const float* x, const float* scale, const float* shift, float* y, size_t n) {
  const D d;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(
        hn::Add(hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, scale + i)), hn::LoadU(d, shift + i)), d,
        y + i);
  for (; i < n; ++i) y[i] = x[i] * scale[i] + shift[i];
}

HWY_NOINLINE void FusedMulAdd(const float* a, const float* b, const float* c, float* y, size_t n) {
  const D d;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(M::Fma(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i)), d, y + i);
  if (i == n) return;
  HWY_ALIGN float pieces[3 * kLanes] = {};
  const float* operands[] = {a + i, b + i, c + i};
  for (size_t k = 0; k < 3; ++k)
    std::memcpy(pieces + k * kLanes, operands[k], (n - i) * sizeof(float));
  FusedMulAdd(pieces, pieces + kLanes, pieces + 2 * kLanes, pieces, kLanes);
  std::memcpy(y + i, pieces, (n - i) * sizeof(float));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Unary);
HWY_EXPORT(Binary);
HWY_EXPORT(MulAdd);
HWY_EXPORT(FusedMulAdd);

namespace {

constexpr std::string_view kUnaryNames[] = {
#define NN_ROW(name, fn) name,
    NN_UNARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
};
constexpr std::string_view kBinaryNames[] = {
#define NN_ROW(name, fn) name,
    NN_BINARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
};

template <size_t N>
std::optional<size_t> IndexOf(const std::string_view (&names)[N], std::string_view op) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == op) return i;
  return std::nullopt;
}

}  // namespace

std::optional<size_t> UnaryFunctionId(std::string_view op) {
  return IndexOf(kUnaryNames, op);
}
std::optional<size_t> BinaryFunctionId(std::string_view op) {
  return IndexOf(kBinaryNames, op);
}

void RunUnaryF32(size_t function, const FunctionParams& params, const float* x, float* y,
                 size_t n) {
  HWY_DYNAMIC_DISPATCH(Unary)(function, params, x, y, n);
}

void RunBinaryF32(size_t function, BinaryForm form, const float* a, const float* b, float* y,
                  size_t n) {
  HWY_DYNAMIC_DISPATCH(Binary)(function, form, a, b, y, n);
}

void RunMulAddF32(const float* x, const float* scale, const float* shift, float* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(MulAdd)(x, scale, shift, y, n);
}

void RunFmaF32(const float* a, const float* b, const float* c, float* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(FusedMulAdd)(a, b, c, y, n);
}

}  // namespace nn
#endif  // HWY_ONCE
