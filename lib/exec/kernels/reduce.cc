#include "exec/kernels/reduce.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/reduce.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/reduce-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

// Calls fn with the type of the reduction.
template <class Fn>
HWY_INLINE auto With(RowReduction reduction, Fn fn) {
  switch (reduction) {
    case RowReduction::kSumOfSquares:
      return fn(SumOfSquares());
    case RowReduction::kSumOfMagnitudes:
      return fn(SumOfMagnitudes());
    case RowReduction::kProduct:
      return fn(Product());
    case RowReduction::kMax:
      return fn(Max());
    case RowReduction::kMin:
      return fn(Min());
    case RowReduction::kLargest:
      return fn(Largest());
    default:
      return fn(Sum());
  }
}

void ReduceColumns(RowReduction reduction, const float* x, const int64_t* offsets, size_t n,
                   float* y, size_t columns) {
  With(reduction,
       [&](auto r) { ReduceColumnsOf<decltype(r)>(x, offsets, n, nullptr, y, columns); });
}

void ReduceRows(RowReduction reduction, const float* x, size_t stride, size_t rows, size_t n,
                float* y) {
  With(reduction, [&](auto r) { ReduceRowsOf<decltype(r)>(x, stride, rows, n, nullptr, y); });
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
HWY_EXPORT(ReduceRows);
HWY_EXPORT(SumColumns);

void ReduceColumnsF32(RowReduction reduction, const float* x, const int64_t* offsets, size_t n,
                      float* y, size_t columns) {
  HWY_DYNAMIC_DISPATCH(ReduceColumns)(reduction, x, offsets, n, y, columns);
}

void ReduceRowsF32(RowReduction reduction, const float* x, size_t stride, size_t rows, size_t n,
                   float* y) {
  HWY_DYNAMIC_DISPATCH(ReduceRows)(reduction, x, stride, rows, n, y);
}

void SumColumns8(bool is_signed, const uint8_t* x, const int64_t* offsets, size_t n, int32_t* y,
                 size_t columns) {
  HWY_DYNAMIC_DISPATCH(SumColumns)(is_signed, x, offsets, n, y, columns);
}

}  // namespace nn
#endif  // HWY_ONCE
