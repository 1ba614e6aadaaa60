#include "exec/kernels/elementwise.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/elementwise.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "exec/kernels/simd-inl.h"
#include "ops/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D = hn::CappedTag<float, 16>;
using M = SimdMachine<D>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());

// Whole vectors, then a last partial one through a padded copy.
template <class Fn>
HWY_INLINE void ForEachVector(const float* a, const float* b, float* y, size_t n, Fn fn) {
  const D d;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(fn(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  if (i == n) return;
  HWY_ALIGN float pa[kLanes] = {};
  HWY_ALIGN float pb[kLanes] = {};
  std::memcpy(pa, a + i, (n - i) * sizeof(float));
  std::memcpy(pb, b + i, (n - i) * sizeof(float));
  hn::Store(fn(hn::Load(d, pa), hn::Load(d, pb)), d, pa);
  std::memcpy(y + i, pa, (n - i) * sizeof(float));
}

template <template <class> class F>
HWY_NOINLINE void UnaryRow(const FunctionParams& params, const float* x, float* y, size_t n) {
  ForEachVector(x, x, y, n, [&](V v, V) HWY_ATTR { return F<M>::Run(v, params); });
}

template <template <class> class F>
HWY_NOINLINE void BinaryRow(BinaryForm form, const float* a, const float* b, float* y, size_t n) {
  const D d;
  switch (form) {
    case BinaryForm::kVectorVector:
      ForEachVector(a, b, y, n, [](V x, V z) HWY_ATTR { return F<M>::Run(x, z); });
      break;
    case BinaryForm::kVectorScalar: {
      const V s = hn::Set(d, b[0]);
      ForEachVector(a, a, y, n, [&](V x, V) HWY_ATTR { return F<M>::Run(x, s); });
      break;
    }
    case BinaryForm::kScalarVector: {
      const V s = hn::Set(d, a[0]);
      ForEachVector(b, b, y, n, [&](V x, V) HWY_ATTR { return F<M>::Run(s, x); });
      break;
    }
  }
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
  using Fn = void (*)(BinaryForm, const float*, const float*, float*, size_t);
  static constexpr Fn kTable[] = {
#define NN_ROW(name, fn) &BinaryRow<fn>,
      NN_BINARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
  };
  kTable[function](form, a, b, y, n);
}

void MulAdd(const float* x, const float* scale, const float* shift, float* y, size_t n) {
  const D d;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(M::Fma(hn::LoadU(d, x + i), hn::LoadU(d, scale + i), hn::LoadU(d, shift + i)), d,
               y + i);
  for (; i < n; ++i) y[i] = std::fma(x[i], scale[i], shift[i]);
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

std::optional<size_t> UnaryFunctionId(std::string_view op) { return IndexOf(kUnaryNames, op); }
std::optional<size_t> BinaryFunctionId(std::string_view op) { return IndexOf(kBinaryNames, op); }

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

}  // namespace nn
#endif  // HWY_ONCE
