#include "exec/kernels/int8/quantize.h"

#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/int8/quantize.cc"
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
constexpr size_t kLanes = hn::MaxLanes(D());

HWY_INLINE V HalfAway(V x) {
  const V whole = M::Trunc(x);
  const auto up = M::Ge(M::Abs(M::Sub(x, whole)), M::Set(0.5f));
  return M::Select(up, M::Add(whole, M::CopySign(M::Set(1.0f), x)), whole);
}

template <typename T>
HWY_INLINE void QuantizeRow(const QuantizeParams& p, const float* x, T* y, size_t n) {
  const D d;
  const hn::Rebind<int32_t, D> d32;
  const hn::Rebind<T, D> d8;
  const V scale = M::Set(p.scale);
  // Bounds of the value added to the zero point: whole numbers, so that the sums are exact.
  const auto bound = [&](int32_t v) { return static_cast<float>(v - p.zero_point); };
  const V low = M::Set(bound(std::numeric_limits<T>::min()));
  const V high = M::Set(bound(std::numeric_limits<T>::max()));
  const auto zero = hn::Set(d32, p.zero_point);
  const auto run = [&](const float* from, T* to) HWY_ATTR {
    const V steps = M::Div(hn::LoadU(d, from), scale);
    V rounded = p.half_even ? M::Round(steps) : HalfAway(steps);
    rounded = M::Select(M::IsNan(rounded), M::Set(0.0f), rounded);
    rounded = M::Min(high, M::Max(low, rounded));
    hn::StoreU(hn::DemoteTo(d8, hn::Add(hn::ConvertTo(d32, rounded), zero)), d8, to);
  };
  ForEachVector<kLanes>(x, y, n, run);
}

void Quantize(const QuantizeParams& p, const float* x, uint8_t* y, size_t n) {
  if (p.is_signed)
    QuantizeRow(p, x, reinterpret_cast<int8_t*>(y), n);
  else
    QuantizeRow(p, x, y, n);
}

void Range(const float* x, size_t n, RangeF32& range) {
  const D d;
  V low = M::Set(0.0f);
  V high = low;
  auto nans = M::IsNan(low);
  const auto add = [&](const float* from) HWY_ATTR {
    const V v = hn::LoadU(d, from);
    low = M::Min(v, low);
    high = M::Max(v, high);
    nans = hn::Or(nans, M::IsNan(v));
  };
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) add(x + i);
  if (i < n) {
    HWY_ALIGN float rest[kLanes] = {};
    std::memcpy(rest, x + i, (n - i) * sizeof(float));
    add(rest);
  }
  HWY_ALIGN float lows[kLanes];
  HWY_ALIGN float highs[kLanes];
  hn::Store(low, d, lows);
  hn::Store(high, d, highs);
  for (size_t k = 0; k < kLanes; ++k) range.Join({lows[k], highs[k]});
  if (!hn::AllFalse(d, nans)) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    range = {nan, nan};
  }
}

void DynamicQuantize(float scale, float zero_point, const float* x, uint8_t* y, size_t n) {
  const D d;
  const hn::Rebind<int32_t, D> d32;
  const hn::Rebind<uint8_t, D> d8;
  const V step = M::Set(scale);
  const V zero = M::Set(zero_point);
  const V low = M::Set(0.0f);
  const V high = M::Set(255.0f);
  const auto run = [&](const float* from, uint8_t* to) HWY_ATTR {
    V v = M::Add(M::Round(M::Div(hn::LoadU(d, from), step)), zero);
    v = M::Select(M::IsNan(v), low, v);
    v = M::Min(high, M::Max(low, v));
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(d32, v)), d8, to);
  };
  ForEachVector<kLanes>(x, y, n, run);
}

void FakeQuantize(const RowGrid& grid, const float* x, float* y, size_t n) {
  const D d;
  const V inverse = M::Set(grid.inverse);
  const V scale = M::Set(grid.scale);
  const V zero = M::Set(grid.zero);
  const V low = M::Set(-128.0f);
  const V high = M::Set(127.0f);
  const auto symmetric = [&](const float* from, float* to) HWY_ATTR {
    hn::StoreU(M::Mul(HalfAway(M::Mul(hn::LoadU(d, from), inverse)), scale), d, to);
  };
  const auto asymmetric = [&](const float* from, float* to) HWY_ATTR {
    const V steps = HalfAway(M::Add(M::Mul(hn::LoadU(d, from), inverse), zero));
    const V bounded = M::Min(high, M::Max(low, steps));
    hn::StoreU(M::Mul(M::Sub(bounded, zero), scale), d, to);
  };
  if (grid.symmetric) return ForEachVector<kLanes>(x, y, n, symmetric);
  ForEachVector<kLanes>(x, y, n, asymmetric);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Quantize);
HWY_EXPORT(Range);
HWY_EXPORT(DynamicQuantize);
HWY_EXPORT(FakeQuantize);

void RunQuantizeF32(const QuantizeParams& params, const float* x, uint8_t* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(Quantize)(params, x, y, n);
}

void RangeF32::Join(const RangeF32& other) {
  low = std::isnan(low) || other.low >= low ? low : other.low;
  high = std::isnan(high) || other.high <= high ? high : other.high;
}

RangeF32 RangeOfF32(const float* x, size_t n) {
  RangeF32 range;
  HWY_DYNAMIC_DISPATCH(Range)(x, n, range);
  return range;
}

void RunDynamicQuantizeF32(float scale, float zero_point, const float* x, uint8_t* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(DynamicQuantize)(scale, zero_point, x, y, n);
}

void RunFakeQuantizeF32(const RowGrid& grid, const float* x, float* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(FakeQuantize)(grid, x, y, n);
}

}  // namespace nn
#endif  // HWY_ONCE
