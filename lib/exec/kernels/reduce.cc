#include "exec/kernels/reduce.h"

#include <algorithm>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/reduce.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

constexpr size_t kSlots = 16;  // lanes of the contract

using D = hn::CappedTag<float, kSlots>;
using M = SimdMachine<D>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());

// Each reduction: where a lane starts, an element's part in it, how two are combined, and what
// becomes of the last one.
struct Plain {
  static HWY_INLINE V Initial() { return hn::Zero(D()); }
  static HWY_INLINE V Element(V x) { return x; }
  static HWY_INLINE V Combine(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE V Finish(V v) { return v; }
};
struct Sum : Plain {};
struct SumOfSquares : Plain {
  static HWY_INLINE V Element(V x) { return hn::Mul(x, x); }
};
struct SumOfMagnitudes : Plain {
  static HWY_INLINE V Element(V x) { return hn::Abs(x); }
};
struct Product : Plain {
  static HWY_INLINE V Initial() { return hn::Set(D(), 1.0f); }
  static HWY_INLINE V Combine(V a, V b) { return hn::Mul(a, b); }
};
struct Largest : Plain {
  static HWY_INLINE V Initial() { return hn::Set(D(), -std::numeric_limits<float>::infinity()); }
  static HWY_INLINE V Combine(V a, V b) { return hn::IfThenElse(hn::IsNaN(b), b, M::Max(b, a)); }
};
// Adding +0 leaves all but the sign of a zero.
struct Max : Largest {
  static HWY_INLINE V Finish(V v) { return hn::Add(v, hn::Zero(D())); }
};
struct Min : Plain {
  static HWY_INLINE V Initial() { return hn::Set(D(), std::numeric_limits<float>::infinity()); }
  static HWY_INLINE V Combine(V a, V b) { return hn::IfThenElse(hn::IsNaN(b), b, M::Min(b, a)); }
  static HWY_INLINE V Finish(V v) { return hn::Add(v, hn::Zero(D())); }
};

// W vectors of columns: one lane of the contract after the other.
template <class R, size_t W>
HWY_INLINE void Columns(const float* x, const int64_t* offsets, size_t n, float* y) {
  const D d;
  V slot[kSlots][W];
  for (size_t s = 0; s < kSlots; ++s) {
    for (size_t v = 0; v < W; ++v) slot[s][v] = R::Initial();
    for (size_t i = s; i < n; i += kSlots)
      for (size_t v = 0; v < W; ++v)
        slot[s][v] = R::Combine(slot[s][v], R::Element(hn::LoadU(d, x + offsets[i] + v * kLanes)));
  }
  for (size_t half = kSlots / 2; half > 0; half /= 2)
    for (size_t s = 0; s < half; ++s)
      for (size_t v = 0; v < W; ++v) slot[s][v] = R::Combine(slot[s][v], slot[s + half][v]);
  for (size_t v = 0; v < W; ++v) hn::StoreU(R::Finish(slot[0][v]), d, y + v * kLanes);
}

// Fewer columns than a vector has lanes.
template <class R>
HWY_INLINE void FewColumns(const float* x, const int64_t* offsets, size_t n, float* y,
                           size_t columns) {
  const D d;
  HWY_ALIGN float piece[kLanes] = {};
  HWY_ALIGN float slot[kSlots][kLanes];
  for (size_t s = 0; s < kSlots; ++s) {
    V sum = R::Initial();
    for (size_t i = s; i < n; i += kSlots) {
      std::memcpy(piece, x + offsets[i], columns * sizeof(float));
      sum = R::Combine(sum, R::Element(hn::Load(d, piece)));
    }
    hn::Store(sum, d, slot[s]);
  }
  for (size_t half = kSlots / 2; half > 0; half /= 2)
    for (size_t s = 0; s < half; ++s)
      hn::Store(R::Combine(hn::Load(d, slot[s]), hn::Load(d, slot[s + half])), d, slot[s]);
  hn::Store(R::Finish(hn::Load(d, slot[0])), d, piece);
  std::memcpy(y, piece, columns * sizeof(float));
}

template <class R>
HWY_NOINLINE void AllColumns(const float* x, const int64_t* offsets, size_t n, float* y,
                             size_t columns) {
  if (columns < kLanes) return FewColumns<R>(x, offsets, n, y, columns);
  size_t c = 0;
  if constexpr (kLanes < kSlots)
    for (; c + 2 * kLanes <= columns; c += 2 * kLanes) Columns<R, 2>(x + c, offsets, n, y + c);
  for (; c + kLanes <= columns; c += kLanes) Columns<R, 1>(x + c, offsets, n, y + c);
  // The last vector overlaps the one before.
  if (c < columns) Columns<R, 1>(x + columns - kLanes, offsets, n, y + columns - kLanes);
}

template <class R>
HWY_NOINLINE float Row(const float* x, size_t n) {
  const D d;
  constexpr size_t kVectors = kSlots / kLanes;
  V slots[kVectors];
  for (size_t v = 0; v < kVectors; ++v) slots[v] = R::Initial();
  size_t i = 0;
  for (; i + kSlots <= n; i += kSlots)
    for (size_t v = 0; v < kVectors; ++v)
      slots[v] = R::Combine(slots[v], R::Element(hn::LoadU(d, x + i + v * kLanes)));
  // The rest: lanes without an element stay as they are.
  HWY_ALIGN float lane[kSlots];
  for (size_t v = 0; v < kVectors; ++v) hn::Store(slots[v], d, lane + v * kLanes);
  if (i < n) {
    HWY_ALIGN float piece[kSlots] = {};
    HWY_ALIGN float with[kSlots];
    std::memcpy(piece, x + i, (n - i) * sizeof(float));
    for (size_t v = 0; v < kVectors; ++v)
      hn::Store(R::Combine(slots[v], R::Element(hn::Load(d, piece + v * kLanes))), d,
                with + v * kLanes);
    std::memcpy(lane, with, (n - i) * sizeof(float));
  }
  for (size_t half = kSlots / 2; half > 0; half /= 2) {
    HWY_ALIGN float upper[kSlots] = {};
    std::memcpy(upper, lane + half, half * sizeof(float));
    for (size_t s = 0; s < half; s += kLanes)
      hn::Store(R::Combine(hn::Load(d, lane + s), hn::Load(d, upper + s)), d, lane + s);
  }
  hn::Store(R::Finish(hn::Load(d, lane)), d, lane);
  return lane[0];
}

// Calls fn with the type of the reduction.
template <class Fn>
HWY_INLINE auto With(Reduction reduction, Fn fn) {
  switch (reduction) {
    case Reduction::kSumOfSquares:
      return fn(SumOfSquares());
    case Reduction::kSumOfMagnitudes:
      return fn(SumOfMagnitudes());
    case Reduction::kProduct:
      return fn(Product());
    case Reduction::kMax:
      return fn(Max());
    case Reduction::kMin:
      return fn(Min());
    case Reduction::kLargest:
      return fn(Largest());
    default:
      return fn(Sum());
  }
}

void ReduceColumns(Reduction reduction, const float* x, const int64_t* offsets, size_t n, float* y,
                   size_t columns) {
  With(reduction, [&](auto r) { AllColumns<decltype(r)>(x, offsets, n, y, columns); });
}

float ReduceRow(Reduction reduction, const float* x, size_t n) {
  return With(reduction, [&](auto r) { return Row<decltype(r)>(x, n); });
}

template <typename T>
void SumBytes(const uint8_t* x, const int64_t* offsets, size_t n, int32_t* y, size_t columns) {
  const hn::CappedTag<int32_t, kSlots> d;
  [[maybe_unused]] const size_t lanes = hn::Lanes(d);
  std::fill_n(y, columns, 0);
  for (size_t i = 0; i < n; ++i) {
    const T* from = reinterpret_cast<const T*>(x) + offsets[i];
    size_t c = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::Rebind<T, decltype(d)> d8;
    for (; c + lanes <= columns; c += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, y + c), hn::PromoteTo(d, hn::LoadU(d8, from + c))), d, y + c);
#endif
    for (; c < columns; ++c) y[c] += from[c];
  }
}

void SumColumns(bool is_signed, const uint8_t* x, const int64_t* offsets, size_t n, int32_t* y,
                size_t columns) {
  if (is_signed)
    SumBytes<int8_t>(x, offsets, n, y, columns);
  else
    SumBytes<uint8_t>(x, offsets, n, y, columns);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(ReduceColumns);
HWY_EXPORT(ReduceRow);
HWY_EXPORT(SumColumns);

void ReduceColumnsF32(Reduction reduction, const float* x, const int64_t* offsets, size_t n,
                      float* y, size_t columns) {
  HWY_DYNAMIC_DISPATCH(ReduceColumns)(reduction, x, offsets, n, y, columns);
}

float ReduceRowF32(Reduction reduction, const float* x, size_t n) {
  return HWY_DYNAMIC_DISPATCH(ReduceRow)(reduction, x, n);
}

void SumColumns8(bool is_signed, const uint8_t* x, const int64_t* offsets, size_t n, int32_t* y,
                 size_t columns) {
  HWY_DYNAMIC_DISPATCH(SumColumns)(is_signed, x, offsets, n, y, columns);
}

}  // namespace nn
#endif  // HWY_ONCE
