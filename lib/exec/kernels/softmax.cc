#include "exec/kernels/softmax.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/softmax.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/reduce-inl.h"
#include "hwy/highway.h"
#include "numeric/elementary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D = SlotTag;
using V = SlotVec;
using M = SimdMachine<D>;
constexpr size_t kLanes = kSlotLanes;

// exp(x). The exponential of numbers below -104 is 0 by way of a conversion that underflows, which
// some processors take many times as long for: masked scores are -infinity or as small.
HWY_INLINE V Exponential(V x) {
  const auto is_zero = hn::Lt(x, hn::Set(D(), -104.0f));
  return hn::IfThenZeroElse(is_zero, Elementary<M>::Exp(hn::IfThenZeroElse(is_zero, x)));
}

// y = exp((x - shift) * beta); returns the sum.
HWY_INLINE float Exponentials(const float* x, float shift, float beta, float* y, size_t n) {
  const D d;
  const V shifts = hn::Set(d, shift);
  const V factor = hn::Set(d, beta);
  const auto at = [&](V v) { return Exponential(hn::Mul(hn::Sub(v, shifts), factor)); };
  V sums[kSlotVectors];
  NN_UNROLL
  for (size_t v = 0; v < kSlotVectors; ++v) sums[v] = hn::Zero(d);
  size_t i = 0;
  for (; i + kSlots <= n; i += kSlots) {
    NN_UNROLL
    for (size_t v = 0; v < kSlotVectors; ++v) {
      const V e = at(hn::LoadU(d, x + i + v * kLanes));
      hn::StoreU(e, d, y + i + v * kLanes);
      sums[v] = hn::Add(sums[v], e);
    }
  }
  NN_UNROLL
  for (size_t v = 0; v < kSlotVectors; ++v) {
    const size_t begin = i + v * kLanes;
    if (begin < n) {
      const size_t left = std::min(kLanes, n - begin);
      const V e = at(LoadFirst(x + begin, left));
      StoreFirst(e, y + begin, left);
      sums[v] = hn::Add(sums[v], hn::IfThenElseZero(hn::FirstN(d, left), e));
    }
  }
  return FoldSlots<Sum>(sums);
}

HWY_INLINE void Divide(float* y, float divisor, size_t n) {
  const D d;
  const V by = hn::Set(d, divisor);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(hn::Div(hn::LoadU(d, y + i), by), d, y + i);
  if (i < n) StoreFirst(hn::Div(LoadFirst(y + i, n - i), by), y + i, n - i);
}

// y = (x - first) - second
HWY_INLINE void SubtractTwo(const float* x, float first, float second, float* y, size_t n) {
  const D d;
  const V a = hn::Set(d, first);
  const V b = hn::Set(d, second);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(d, x + i), a), b), d, y + i);
  if (i < n) StoreFirst(hn::Sub(hn::Sub(LoadFirst(x + i, n - i), a), b), y + i, n - i);
}

void SoftmaxRows(const float* x, float* y, size_t rows, size_t n, float beta, bool logarithm) {
  constexpr size_t kTogether = 8;
  float largest[kTogether];
  for (size_t first = 0; first < rows; first += kTogether) {
    const size_t count = std::min(kTogether, rows - first);
    ReduceRowsOf<Largest>(x, n, count, n, nullptr, largest);
    for (size_t r = 0; r < count; ++r, x += n, y += n) {
      const float sum = Exponentials(x, largest[r], beta, y, n);
      if (logarithm)
        SubtractTwo(x, largest[r], hn::GetLane(Elementary<M>::Log(hn::Set(D(), sum))), y, n);
      else
        Divide(y, sum, n);
    }
  }
}

void ExpOfDifferences(const float* x, const float* shift, float beta, float* y, size_t n) {
  const D d;
  const V factor = hn::Set(d, beta);
  const auto at = [&](V v, V by) { return Exponential(hn::Mul(hn::Sub(v, by), factor)); };
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(at(hn::LoadU(d, x + i), hn::LoadU(d, shift + i)), d, y + i);
  if (i < n) StoreFirst(at(LoadFirst(x + i, n - i), LoadFirst(shift + i, n - i)), y + i, n - i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(SoftmaxRows);
HWY_EXPORT(ExpOfDifferences);

void SoftmaxRowsF32(const float* x, float* y, size_t rows, size_t n, float beta, bool logarithm) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRows)(x, y, rows, n, beta, logarithm);
}

void RunExpOfDifferencesF32(const float* x, const float* shift, float beta, float* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(ExpOfDifferences)(x, shift, beta, y, n);
}

}  // namespace nn
#endif  // HWY_ONCE
