// Reductions in the order of the arithmetic contract (ops/reduce/reduction.h), for the kernels of a
// SIMD target: element i of a row goes to slot i mod 16, then halves are combined.
#if defined(NN_EXEC_KERNELS_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NN_EXEC_KERNELS_REDUCE_INL_H_
#undef NN_EXEC_KERNELS_REDUCE_INL_H_
#else
#define NN_EXEC_KERNELS_REDUCE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {

constexpr size_t kSlots = 16;
using SlotTag = hn::CappedTag<float, kSlots>;
using SlotVec = hn::Vec<SlotTag>;
constexpr size_t kSlotLanes = hn::MaxLanes(SlotTag());
constexpr size_t kSlotVectors = kSlots / kSlotLanes;

// ---- The first n elements of a vector, 0 <= n <= lanes; no other memory is touched

#undef NN_MASKED_MEMORY
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define NN_MASKED_MEMORY 1
#else
#define NN_MASKED_MEMORY 0
#endif

// Followed by zeros.
HWY_INLINE SlotVec LoadFirst(const float* from, size_t n) {
  const SlotTag d;
#if NN_MASKED_MEMORY
  return hn::MaskedLoad(hn::FirstN(d, n), d, from);
#else
  HWY_ALIGN float piece[kSlotLanes] = {};
  std::memcpy(piece, from, n * sizeof(float));
  return hn::Load(d, piece);
#endif
}

HWY_INLINE void StoreFirst(SlotVec v, float* to, size_t n) {
  const SlotTag d;
#if NN_MASKED_MEMORY
  hn::BlendedStore(v, hn::FirstN(d, n), d, to);
#else
  HWY_ALIGN float piece[kSlotLanes];
  hn::Store(v, d, piece);
  std::memcpy(to, piece, n * sizeof(float));
#endif
}

// ---- Reductions
//
// The initial value of a slot, which is neutral when combined; the contribution of an element; how
// two are combined; the post-processing of the result. With kShifted elements are x - shift.

struct Plain {
  static constexpr bool kShifted = false;
  static constexpr float kInitial = 0.0f;
  template <class V>
  static HWY_INLINE V Element(V x, V) {
    return x;
  }
  template <class D, class V>
  static HWY_INLINE V Combine(D, V a, V b) {
    return hn::Add(a, b);
  }
  template <class D, class V>
  static HWY_INLINE V Finish(D, V v) {
    return v;
  }
};
struct Sum : Plain {};
struct SumOfSquares : Plain {
  template <class V>
  static HWY_INLINE V Element(V x, V) {
    return hn::Mul(x, x);
  }
};
struct SumOfSquaredDeviations : Plain {
  static constexpr bool kShifted = true;
  template <class V>
  static HWY_INLINE V Element(V x, V shift) {
    const V d = hn::Sub(x, shift);
    return hn::Mul(d, d);
  }
};
struct SumOfMagnitudes : Plain {
  template <class V>
  static HWY_INLINE V Element(V x, V) {
    return hn::Abs(x);
  }
};
struct Product : Plain {
  static constexpr float kInitial = 1.0f;
  template <class D, class V>
  static HWY_INLINE V Combine(D, V a, V b) {
    return hn::Mul(a, b);
  }
};
struct Largest : Plain {
  static constexpr float kInitial = -std::numeric_limits<float>::infinity();
  template <class D, class V>
  static HWY_INLINE V Combine(D, V a, V b) {
    return hn::IfThenElse(hn::IsNaN(b), b, SimdMachine<D>::Max(b, a));
  }
};
// Adding +0 changes only the sign of a zero.
struct Max : Largest {
  template <class D, class V>
  static HWY_INLINE V Finish(D d, V v) {
    return hn::Add(v, hn::Zero(d));
  }
};
struct Min : Plain {
  static constexpr float kInitial = std::numeric_limits<float>::infinity();
  template <class D, class V>
  static HWY_INLINE V Combine(D, V a, V b) {
    return hn::IfThenElse(hn::IsNaN(b), b, SimdMachine<D>::Min(b, a));
  }
  template <class D, class V>
  static HWY_INLINE V Finish(D d, V v) {
    return hn::Add(v, hn::Zero(d));
  }
};

// ---- Rows of adjacent elements

#if HWY_TARGET != HWY_SCALAR
// Combines halves until one lane is left.
template <class R, class D>
HWY_INLINE float FoldLanes(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return FoldLanes<R>(half, R::Combine(half, hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    v = R::Combine(d, v, hn::Shuffle1032(v));
    v = R::Combine(d, v, hn::Shuffle2301(v));
    return hn::GetLane(R::Finish(d, v));
  }
}
#endif

template <class R>
HWY_INLINE float FoldSlots(SlotVec (&slots)[kSlotVectors]) {
  const SlotTag d;
  NN_UNROLL
  for (size_t half = kSlotVectors / 2; half > 0; half /= 2) {
    NN_UNROLL
    for (size_t s = 0; s < half; ++s) slots[s] = R::Combine(d, slots[s], slots[s + half]);
  }
#if HWY_TARGET == HWY_SCALAR
  return hn::GetLane(R::Finish(d, slots[0]));
#else
  return FoldLanes<R>(d, slots[0]);
#endif
}

// y[r] = the reduction of kRows rows of n elements, `stride` apart, interleaved so that additions
// do not wait for one another.
template <class R, size_t kRows>
HWY_INLINE void ReduceRowsTogether(const float* x, size_t stride, size_t n,
                                   [[maybe_unused]] const float* shift, float* y) {
  const SlotTag d;
  SlotVec slots[kRows][kSlotVectors];
  SlotVec shifts[kRows];
  NN_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    NN_UNROLL
    for (size_t v = 0; v < kSlotVectors; ++v) slots[r][v] = hn::Set(d, R::kInitial);
    shifts[r] = hn::Zero(d);
    if constexpr (R::kShifted) shifts[r] = hn::Set(d, shift[r]);
  }
  size_t i = 0;
  for (; i + kSlots <= n; i += kSlots) {
    NN_UNROLL
    for (size_t v = 0; v < kSlotVectors; ++v) {
      const float* from = x + i + v * kSlotLanes;
      NN_UNROLL
      for (size_t r = 0; r < kRows; ++r)
        slots[r][v] =
            R::Combine(d, slots[r][v], R::Element(hn::LoadU(d, from + r * stride), shifts[r]));
    }
  }
  NN_UNROLL
  for (size_t v = 0; v < kSlotVectors; ++v) {
    const size_t begin = i + v * kSlotLanes;
    if (begin < n) {
      const size_t left = std::min(kSlotLanes, n - begin);
      const auto there = hn::FirstN(d, left);
      NN_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        const auto e = R::Element(LoadFirst(x + r * stride + begin, left), shifts[r]);
        slots[r][v] = R::Combine(d, slots[r][v], hn::IfThenElse(there, e, hn::Set(d, R::kInitial)));
      }
    }
  }
  NN_UNROLL
  for (size_t r = 0; r < kRows; ++r) y[r] = FoldSlots<R>(slots[r]);
}

// y[r] = the reduction of row r of `rows`.
template <class R>
HWY_NOINLINE void ReduceRowsOf(const float* x, size_t stride, size_t rows, size_t n,
                               const float* shift, float* y) {
  constexpr size_t kTogether = kSlotVectors <= 2 ? 4 : kSlotVectors <= 4 ? 2 : 1;
  size_t r = 0;
  const auto shifts = [&] { return R::kShifted ? shift + r : nullptr; };
  for (; r + kTogether <= rows; r += kTogether)
    ReduceRowsTogether<R, kTogether>(x + r * stride, stride, n, shifts(), y + r);
  for (; r < rows; ++r) ReduceRowsTogether<R, 1>(x + r * stride, stride, n, shifts(), y + r);
}

// ---- Columns

// Adds n rows of a vector of columns to its 16 slots in memory, the first row to the first slot.
template <class R>
HWY_INLINE void AddRowsToSlots(const float* x, const int64_t* offsets, size_t n, SlotVec shift,
                               float* slots) {
  const SlotTag d;
  constexpr size_t kTogether = kSlotLanes == kSlots ? 16 : 8;  // as many as fit into registers
  for (size_t first = 0; first < kSlots; first += kTogether) {
    SlotVec slot[kTogether];
    NN_UNROLL
    for (size_t s = 0; s < kTogether; ++s) slot[s] = hn::Load(d, slots + (first + s) * kSlotLanes);
    size_t i = first;
    for (; i + kTogether <= n; i += kSlots) {
      NN_UNROLL
      for (size_t s = 0; s < kTogether; ++s)
        slot[s] = R::Combine(d, slot[s], R::Element(hn::LoadU(d, x + offsets[i + s]), shift));
    }
    NN_UNROLL
    for (size_t s = 0; s < kTogether; ++s) hn::Store(slot[s], d, slots + (first + s) * kSlotLanes);
    for (float* to = slots + first * kSlotLanes;
         i < n && to < slots + (first + kTogether) * kSlotLanes; ++i, to += kSlotLanes)
      hn::Store(R::Combine(d, hn::Load(d, to), R::Element(hn::LoadU(d, x + offsets[i]), shift)), d,
                to);
  }
}

// A vector of columns of n rows; best for few rows.
template <class R>
HWY_INLINE SlotVec ReduceColumnVector(const float* x, const int64_t* offsets, size_t n,
                                      SlotVec shift) {
  const SlotTag d;
  constexpr size_t kTogether = kSlotLanes == kSlots ? 16 : 8;
  SlotVec slot[kSlots];
  NN_UNROLL
  for (size_t first = 0; first < kSlots; first += kTogether) {
    NN_UNROLL
    for (size_t s = first; s < first + kTogether; ++s) slot[s] = hn::Set(d, R::kInitial);
    size_t i = 0;
    for (; i + first + kTogether <= n; i += kSlots) {
      NN_UNROLL
      for (size_t s = first; s < first + kTogether; ++s)
        slot[s] = R::Combine(d, slot[s], R::Element(hn::LoadU(d, x + offsets[i + s]), shift));
    }
    NN_UNROLL
    for (size_t s = first; s < first + kTogether; ++s)
      if (i + s < n)
        slot[s] = R::Combine(d, slot[s], R::Element(hn::LoadU(d, x + offsets[i + s]), shift));
  }
  NN_UNROLL
  for (size_t half = kSlots / 2; half > 0; half /= 2) {
    NN_UNROLL
    for (size_t s = 0; s < half; ++s) slot[s] = R::Combine(d, slot[s], slot[s + half]);
  }
  return R::Finish(d, slot[0]);
}

template <class R>
HWY_INLINE SlotVec FoldColumnSlots(float* slots) {
  const SlotTag d;
  for (size_t half = kSlots / 2; half > 0; half /= 2)
    for (size_t s = 0; s < half; ++s) {
      float* to = slots + s * kSlotLanes;
      hn::Store(R::Combine(d, hn::Load(d, to), hn::Load(d, to + half * kSlotLanes)), d, to);
    }
  return R::Finish(d, hn::Load(d, slots));
}

// Fewer columns than a vector has lanes.
template <class R>
HWY_NOINLINE void ReduceFewColumns(const float* x, const int64_t* offsets, size_t n,
                                   [[maybe_unused]] const float* shift, float* y, size_t columns) {
  const SlotTag d;
  SlotVec shifts = hn::Zero(d);
  if constexpr (R::kShifted) shifts = LoadFirst(shift, columns);
  HWY_ALIGN float slots[kSlots * kSlotLanes];
  for (size_t s = 0; s < kSlots; ++s) {
    SlotVec slot = hn::Set(d, R::kInitial);
    for (size_t i = s; i < n; i += kSlots)
      slot = R::Combine(d, slot, R::Element(LoadFirst(x + offsets[i], columns), shifts));
    hn::Store(slot, d, slots + s * kSlotLanes);
  }
  StoreFirst(FoldColumnSlots<R>(slots), y, columns);
}

// y[c] = the reduction of x[offsets[0] + c], x[offsets[1] + c], ... for c < columns. Rows are read
// once, a few at a time, and stay in the L1 cache for all columns.
template <class R>
HWY_NOINLINE void ReduceColumnsOf(const float* x, const int64_t* offsets, size_t n,
                                  const float* shift, float* y, size_t columns) {
  const SlotTag d;
  constexpr size_t kMaxColumns = 128;
  constexpr size_t kCached = 4096;  // elements
  HWY_ALIGN float slots[kSlots * kMaxColumns];
  if (columns < kSlotLanes) return ReduceFewColumns<R>(x, offsets, n, shift, y, columns);
  for (size_t c = 0; c < columns; c += kMaxColumns) {
    // The last vector overlaps the one before.
    const size_t first = std::min(c, columns - kSlotLanes);
    const size_t width = std::min(columns - first, kMaxColumns);
    const size_t vectors = (width + kSlotLanes - 1) / kSlotLanes;
    const auto column = [&](size_t v) {
      return first + std::min(v * kSlotLanes, width - kSlotLanes);
    };
    const auto shifts = [&]([[maybe_unused]] size_t v) {
      if constexpr (R::kShifted) return hn::LoadU(d, shift + column(v));
      return hn::Zero(d);
    };
    const size_t chunk = std::max(kSlots, kCached / width / kSlots * kSlots);
    if (n <= chunk) {
      for (size_t v = 0; v < vectors; ++v)
        hn::StoreU(ReduceColumnVector<R>(x + column(v), offsets, n, shifts(v)), d, y + column(v));
      continue;
    }
    std::fill_n(slots, vectors * kSlots * kSlotLanes, R::kInitial);
    for (size_t i = 0; i < n; i += chunk)
      for (size_t v = 0; v < vectors; ++v)
        AddRowsToSlots<R>(x + column(v), offsets + i, std::min(chunk, n - i), shifts(v),
                          slots + v * kSlots * kSlotLanes);
    for (size_t v = 0; v < vectors; ++v)
      hn::StoreU(FoldColumnSlots<R>(slots + v * kSlots * kSlotLanes), d, y + column(v));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#endif  // NN_EXEC_KERNELS_REDUCE_INL_H_
