#include "exec/kernels/norm.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/norm.cc"
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

void RowStatistics(const NormRule& rule, const float* x, size_t stride, size_t rows, size_t n,
                   float* shift, float* factor) {
  std::fill_n(shift, rows, 0.0f);
  std::fill_n(factor, rows, 1.0f);
  if (rule.centered) {
    ReduceRowsOf<Sum>(x, stride, rows, n, nullptr, shift);
    for (size_t r = 0; r < rows; ++r) shift[r] /= static_cast<float>(static_cast<int64_t>(n));
  }
  if (rule.spread == NormRule::Spread::kNone) return;
  if (rule.spread == NormRule::Spread::kMagnitudes)
    ReduceRowsOf<SumOfMagnitudes>(x, stride, rows, n, nullptr, factor);
  else
    ReduceRowsOf<SumOfSquaredDeviations>(x, stride, rows, n, shift, factor);
  for (size_t r = 0; r < rows; ++r) factor[r] = rule.Factor(factor[r], n);
}

void ColumnStatistics(const NormRule& rule, const float* x, const int64_t* offsets, size_t n,
                      size_t columns, float* shift, float* factor) {
  std::fill_n(shift, columns, 0.0f);
  std::fill_n(factor, columns, 1.0f);
  if (rule.centered) {
    ReduceColumnsOf<Sum>(x, offsets, n, nullptr, shift, columns);
    for (size_t c = 0; c < columns; ++c) shift[c] /= static_cast<float>(static_cast<int64_t>(n));
  }
  if (rule.spread == NormRule::Spread::kNone) return;
  if (rule.spread == NormRule::Spread::kMagnitudes)
    ReduceColumnsOf<SumOfMagnitudes>(x, offsets, n, nullptr, factor, columns);
  else
    ReduceColumnsOf<SumOfSquaredDeviations>(x, offsets, n, shift, factor, columns);
  for (size_t c = 0; c < columns; ++c) factor[c] = rule.Factor(factor[c], n);
}

template <NormResult kResult>
constexpr bool kScales =
    kResult == NormResult::kTimesScale || kResult == NormResult::kTimesScaleShift;

template <NormResult kResult>
HWY_INLINE V Normalized(V x, V shift, V factor, [[maybe_unused]] V scale, [[maybe_unused]] V bias) {
  const V d = hn::Sub(x, shift);
  if constexpr (kResult == NormResult::kTimes) return hn::Mul(d, factor);
  if constexpr (kResult == NormResult::kTimesScale) return hn::Mul(hn::Mul(d, factor), scale);
  if constexpr (kResult == NormResult::kTimesScaleShift)
    return M::Fma(hn::Mul(d, factor), scale, bias);
  const V y = hn::Div(d, factor);
  if constexpr (kResult == NormResult::kOverOrZero)
    return hn::IfThenElse(hn::Eq(factor, hn::Zero(D())), hn::Zero(D()), y);
  return y;
}

// A vector of an operand: `first` elements of it, or one for all.
HWY_INLINE V Operand(const float* from, size_t column, bool one, size_t first) {
  if (one) return hn::Set(D(), from[0]);
  return first < kLanes ? LoadFirst(from + column, first) : hn::LoadU(D(), from + column);
}

// Calls fn(column, count) for every vector of `columns` columns. Count is the number of lanes,
// unless there are fewer columns; the last vector overlaps the one before.
template <class Fn>
HWY_INLINE void ForEachVector(size_t columns, Fn fn) {
  if (columns == 0) return;
  if (columns < kLanes) return fn(size_t{0}, columns);
  size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) fn(c, kLanes);
  if (c < columns) fn(columns - kLanes, kLanes);
}

template <NormResult kResult>
HWY_NOINLINE void RowsOf(const NormBlock& b, const float* shift, const float* factor,
                         const float* scale, bool one_scale, const float* bias, bool one_bias) {
  const D d;
  for (size_t r = 0; r < b.rows; ++r) {
    const float* x = b.x + r * b.x_stride;
    float* y = b.y + r * b.y_stride;
    const V shifts = hn::Set(d, shift[r]);
    const V factors = hn::Set(d, factor[r]);
    ForEachVector(b.columns, [&](size_t c, size_t count) {
      V s = hn::Zero(d);
      V t = hn::Zero(d);
      if constexpr (kScales<kResult>) s = Operand(scale, c, one_scale, count);
      if constexpr (kResult == NormResult::kTimesScaleShift) t = Operand(bias, c, one_bias, count);
      if (count < kLanes)
        StoreFirst(Normalized<kResult>(LoadFirst(x, count), shifts, factors, s, t), y, count);
      else
        hn::StoreU(Normalized<kResult>(hn::LoadU(d, x + c), shifts, factors, s, t), d, y + c);
    });
  }
}

template <NormResult kResult>
HWY_NOINLINE void ColumnsOf(const NormBlock& b, const float* shift, const float* factor,
                            const float* scale, const float* bias) {
  const D d;
  ForEachVector(b.columns, [&](size_t c, size_t count) {
    const V shifts = Operand(shift, c, false, count);
    const V factors = Operand(factor, c, false, count);
    V s = hn::Zero(d);
    V t = hn::Zero(d);
    if constexpr (kScales<kResult>) s = Operand(scale, c, false, count);
    if constexpr (kResult == NormResult::kTimesScaleShift) t = Operand(bias, c, false, count);
    const float* x = b.x + c;
    float* y = b.y + c;
    for (size_t r = 0; r < b.rows; ++r, x += b.x_stride, y += b.y_stride) {
      if (count < kLanes)
        StoreFirst(Normalized<kResult>(LoadFirst(x, count), shifts, factors, s, t), y, count);
      else
        hn::StoreU(Normalized<kResult>(hn::LoadU(d, x), shifts, factors, s, t), d, y);
    }
  });
}

// Calls fn with the result as a constant.
template <class Fn>
HWY_INLINE void WithResult(NormResult result, Fn fn) {
  switch (result) {
    case NormResult::kTimes:
      return fn(std::integral_constant<NormResult, NormResult::kTimes>());
    case NormResult::kTimesScale:
      return fn(std::integral_constant<NormResult, NormResult::kTimesScale>());
    case NormResult::kTimesScaleShift:
      return fn(std::integral_constant<NormResult, NormResult::kTimesScaleShift>());
    case NormResult::kOver:
      return fn(std::integral_constant<NormResult, NormResult::kOver>());
    case NormResult::kOverOrZero:
      return fn(std::integral_constant<NormResult, NormResult::kOverOrZero>());
  }
}

void NormalizeRows(NormResult result, const NormBlock& block, const float* shift,
                   const float* factor, const float* scale, bool one_scale, const float* bias,
                   bool one_bias) {
  WithResult(result, [&](auto k) {
    RowsOf<decltype(k)::value>(block, shift, factor, scale, one_scale, bias, one_bias);
  });
}

void NormalizeColumns(NormResult result, const NormBlock& block, const float* shift,
                      const float* factor, const float* scale, const float* bias) {
  WithResult(result,
             [&](auto k) { ColumnsOf<decltype(k)::value>(block, shift, factor, scale, bias); });
}

void LrnRows(const LrnWindow& w, const NormBlock& b, float* squares) {
  const D d;
  const size_t size = w.before + 1 + w.after;
  const V alpha = hn::Set(d, w.alpha);
  const V beta = hn::Set(d, w.beta);
  const V bias = hn::Set(d, w.bias);
  // Zeros replace channels that do not exist: sums of squares stay as they are.
  std::fill_n(squares, w.before + b.columns + w.after + kSlots, 0.0f);
  for (size_t r = 0; r < b.rows; ++r) {
    const float* x = b.x + r * b.x_stride;
    float* y = b.y + r * b.y_stride;
    ForEachVector(b.columns, [&](size_t c, size_t count) {
      const V v = Operand(x, c, false, count);
      hn::StoreU(hn::Mul(v, v), d, squares + w.before + c);
    });
    ForEachVector(b.columns, [&](size_t c, size_t count) {
      V sum = hn::Zero(d);
      for (size_t k = 0; k < size; ++k) sum = hn::Add(sum, hn::LoadU(d, squares + c + k));
      const V divisor = Elementary<M>::Pow(M::Fma(alpha, sum, bias), beta);
      const V v = hn::Div(Operand(x, c, false, count), divisor);
      if (count < kLanes)
        StoreFirst(v, y, count);
      else
        hn::StoreU(v, d, y + c);
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(RowStatistics);
HWY_EXPORT(ColumnStatistics);
HWY_EXPORT(NormalizeRows);
HWY_EXPORT(NormalizeColumns);
HWY_EXPORT(LrnRows);

void NormRowStatisticsF32(const NormRule& rule, const float* x, size_t stride, size_t rows,
                          size_t n, float* shift, float* factor) {
  HWY_DYNAMIC_DISPATCH(RowStatistics)(rule, x, stride, rows, n, shift, factor);
}

void NormColumnStatisticsF32(const NormRule& rule, const float* x, const int64_t* offsets, size_t n,
                             size_t columns, float* shift, float* factor) {
  HWY_DYNAMIC_DISPATCH(ColumnStatistics)(rule, x, offsets, n, columns, shift, factor);
}

void NormalizeRowsF32(NormResult result, const NormBlock& block, const float* shift,
                      const float* factor, const float* scale, bool one_scale, const float* bias,
                      bool one_bias) {
  HWY_DYNAMIC_DISPATCH(NormalizeRows)
  (result, block, shift, factor, scale, one_scale, bias, one_bias);
}

void NormalizeColumnsF32(NormResult result, const NormBlock& block, const float* shift,
                         const float* factor, const float* scale, const float* bias) {
  HWY_DYNAMIC_DISPATCH(NormalizeColumns)(result, block, shift, factor, scale, bias);
}

void LrnRowsF32(const LrnWindow& window, const NormBlock& block, float* squares) {
  HWY_DYNAMIC_DISPATCH(LrnRows)(window, block, squares);
}

}  // namespace nn
#endif  // HWY_ONCE
