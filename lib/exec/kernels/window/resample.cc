#include "exec/kernels/window/resample.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/window/resample.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D = hn::CappedTag<float, 16>;
using M = SimdMachine<D>;
using V = hn::Vec<D>;
using DI = hn::RebindToSigned<D>;
constexpr size_t kLanes = hn::MaxLanes(D());

// W vectors of one result starting at element k. kTaps is 0 if it is known only at run time.
template <size_t kTaps, size_t W>
HWY_INLINE void Vectors(const float* x, const int64_t* HWY_RESTRICT offsets,
                        const float* HWY_RESTRICT weights, size_t taps, size_t k, float* out) {
  const D d;
  const size_t count = kTaps == 0 ? taps : kTaps;
  V sum[W];
  NN_UNROLL
  for (size_t v = 0; v < W; ++v) sum[v] = hn::Zero(d);
  for (size_t t = 0; t < count; ++t) {
    const V weight = hn::Set(d, weights[t]);
    const float* from = x + offsets[t] + k;
    NN_UNROLL
    for (size_t v = 0; v < W; ++v) sum[v] = M::Fma(weight, hn::LoadU(d, from + v * kLanes), sum[v]);
  }
  NN_UNROLL
  for (size_t v = 0; v < W; ++v) hn::StoreU(sum[v], d, out + k + v * kLanes);
}

// A row shorter than a vector.
HWY_INLINE void ShortRow(const WeightedRowsF32& r, const int64_t* offsets, const float* weights,
                         float* out) {
  const D d;
  V sum = hn::Zero(d);
  for (size_t t = 0; t < r.taps; ++t)
    sum = M::Fma(hn::Set(d, weights[t]), LoadSome(d, r.x + offsets[t], r.n), sum);
  StoreSome(sum, d, out, r.n);
}

template <size_t kTaps>
HWY_NOINLINE void Rows(const WeightedRowsF32& r) {
  constexpr size_t kWide = 4;
  for (size_t i = 0; i < r.count; ++i) {
    const int64_t* offsets = r.offsets + i * r.taps;
    const float* weights = r.weights + i * r.taps;
    float* out = r.out + i * r.out_stride;
    if (r.n < kLanes) {
      ShortRow(r, offsets, weights, out);
      continue;
    }
    size_t k = 0;
    for (; k + kWide * kLanes <= r.n; k += kWide * kLanes)
      Vectors<kTaps, kWide>(r.x, offsets, weights, r.taps, k, out);
    for (; k + kLanes <= r.n; k += kLanes) Vectors<kTaps, 1>(r.x, offsets, weights, r.taps, k, out);
    // The last vector overlaps the one before.
    if (k < r.n) Vectors<kTaps, 1>(r.x, offsets, weights, r.taps, r.n - kLanes, out);
  }
}

void WeightedRows(const WeightedRowsF32& rows) {
  if (rows.taps == 2) return Rows<2>(rows);
  if (rows.taps == 4) return Rows<4>(rows);
  Rows<0>(rows);
}

void WeightedElements(const WeightedElementsF32& line) {
  const D d;
  const DI di;
  size_t i = 0;
  for (; i + kLanes <= line.n; i += kLanes) {
    V sum = hn::Zero(d);
    for (size_t t = 0; t < line.taps; ++t)
      sum = M::Fma(hn::LoadU(d, line.weights + t * line.n + i),
                   M::Gather(line.x, hn::LoadU(di, line.offsets + t * line.n + i)), sum);
    hn::StoreU(sum, d, line.out + i);
  }
  if (i == line.n) return;
  const size_t rest = line.n - i;
  V sum = hn::Zero(d);
  for (size_t t = 0; t < line.taps; ++t) {
    const size_t at = t * line.n + i;
    sum = M::Fma(LoadSome(d, line.weights + at, rest),
                 M::Gather(line.x, LoadSome(di, line.offsets + at, rest)), sum);
  }
  StoreSome(sum, d, line.out + i, rest);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(WeightedRows);
HWY_EXPORT(WeightedElements);

void RunWeightedRowsF32(const WeightedRowsF32& rows) {
  HWY_DYNAMIC_DISPATCH(WeightedRows)(rows);
}
void RunWeightedElementsF32(const WeightedElementsF32& line) {
  HWY_DYNAMIC_DISPATCH(WeightedElements)(line);
}

}  // namespace nn
#endif  // HWY_ONCE
