#include "exec/kernels/softmax.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/softmax.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"
#include "ops/elementary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D = hn::CappedTag<float, 16>;
using M = SimdMachine<D>;
constexpr size_t kLanes = hn::MaxLanes(D());

void ExpOfDifferences(const float* x, const float* shift, bool each, float beta, float* y,
                      size_t n) {
  const D d;
  const auto factor = hn::Set(d, beta);
  const auto one = hn::Set(d, shift[0]);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto s = each ? hn::LoadU(d, shift + i) : one;
    hn::StoreU(Elementary<M>::Exp(hn::Mul(hn::Sub(hn::LoadU(d, x + i), s), factor)), d, y + i);
  }
  if (i == n) return;
  HWY_ALIGN float piece[kLanes] = {};
  HWY_ALIGN float shifts[kLanes];
  std::memcpy(piece, x + i, (n - i) * sizeof(float));
  hn::Store(one, d, shifts);
  if (each) std::memcpy(shifts, shift + i, (n - i) * sizeof(float));
  hn::Store(Elementary<M>::Exp(hn::Mul(hn::Sub(hn::Load(d, piece), hn::Load(d, shifts)), factor)),
            d, piece);
  std::memcpy(y + i, piece, (n - i) * sizeof(float));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(ExpOfDifferences);

void RunExpOfDifferencesF32(const float* x, const float* shift, bool each, float beta, float* y,
                            size_t n) {
  HWY_DYNAMIC_DISPATCH(ExpOfDifferences)(x, shift, each, beta, y, n);
}

}  // namespace nn
#endif  // HWY_ONCE
