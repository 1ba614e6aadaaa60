#include "exec/kernels/window/pool.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/window/pool.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using DF = hn::CappedTag<float, 16>;
using MF = SimdMachine<DF>;
template <typename T>
using DBytes = hn::CappedTag<T, 64>;

// The reduction of a window over its taps: State holds a vector of channels.
struct MaxF32 {
  using D = DF;
  struct State {
    hn::Vec<D> largest;
    hn::Vec<D> nan;  // a NaN tap, if there is one

    HWY_INLINE State()
        : largest(hn::Set(D(), -std::numeric_limits<float>::infinity())), nan(hn::Zero(D())) {}
    HWY_INLINE void Add(hn::Vec<D> x) {
      largest = MF::Max(x, largest);
      nan = hn::IfThenElse(hn::IsNaN(x), x, nan);
    }
    HWY_INLINE hn::Vec<D> Finish(int64_t) const {
      return hn::IfThenElse(hn::IsNaN(nan), nan, largest);
    }
  };
};

struct AverageF32 {
  using D = DF;
  struct State {
    hn::Vec<D> sum;

    HWY_INLINE State() : sum(hn::Zero(D())) {}
    HWY_INLINE void Add(hn::Vec<D> x) { sum = hn::Add(sum, x); }
    HWY_INLINE hn::Vec<D> Finish(int64_t divisor) const {
      return hn::Div(sum, hn::Set(D(), static_cast<float>(divisor)));
    }
  };
};

template <typename T>
struct MaxBytes {
  using D = DBytes<T>;
  struct State {
    hn::Vec<D> largest;

    HWY_INLINE State() : largest(hn::Set(D(), std::numeric_limits<T>::min())) {}
    HWY_INLINE void Add(hn::Vec<D> x) { largest = hn::Max(x, largest); }
    HWY_INLINE hn::Vec<D> Finish(int64_t) const { return largest; }
  };
};

// W vectors of channels starting at channel c.
template <class Op, size_t W, typename T>
HWY_INLINE void Channels(const PoolRow<T>& row, const PoolWindow<T>& window, size_t c, T* out) {
  const typename Op::D d;
  const size_t lanes = hn::Lanes(d);
  typename Op::State state[W];
  const T* plane = window.first + c;
  for (int64_t i = 0; i < window.counts[0]; ++i, plane += row.steps[0]) {
    const T* line = plane;
    for (int64_t j = 0; j < window.counts[1]; ++j, line += row.steps[1]) {
      const T* tap = line;
      for (int64_t k = 0; k < window.counts[2]; ++k, tap += row.steps[2])
        for (size_t v = 0; v < W; ++v) state[v].Add(hn::LoadU(d, tap + v * lanes));
    }
  }
  for (size_t v = 0; v < W; ++v)
    hn::StoreU(state[v].Finish(window.divisor), d, out + c + v * lanes);
}

// Fewer channels than a vector has lanes.
template <class Op, typename T>
HWY_INLINE void FewChannels(const PoolRow<T>& row, const PoolWindow<T>& window, T* out) {
  const typename Op::D d;
  HWY_ALIGN T piece[hn::MaxLanes(typename Op::D())] = {};
  typename Op::State state;
  const T* plane = window.first;
  for (int64_t i = 0; i < window.counts[0]; ++i, plane += row.steps[0]) {
    const T* line = plane;
    for (int64_t j = 0; j < window.counts[1]; ++j, line += row.steps[1]) {
      const T* tap = line;
      for (int64_t k = 0; k < window.counts[2]; ++k, tap += row.steps[2]) {
        std::memcpy(piece, tap, row.channels * sizeof(T));
        state.Add(hn::Load(d, piece));
      }
    }
  }
  hn::Store(state.Finish(window.divisor), d, piece);
  std::memcpy(out, piece, row.channels * sizeof(T));
}

template <class Op, typename T>
HWY_NOINLINE void Pool(const PoolRow<T>& row) {
  const size_t lanes = hn::Lanes(typename Op::D());
  for (size_t i = 0; i < row.window_count; ++i) {
    const PoolWindow<T>& window = row.windows[i];
    T* out = row.out + i * row.out_stride;
    if (row.channels < lanes) {
      FewChannels<Op>(row, window, out);
      continue;
    }
    size_t c = 0;
    for (; c + 4 * lanes <= row.channels; c += 4 * lanes) Channels<Op, 4>(row, window, c, out);
    for (; c + lanes <= row.channels; c += lanes) Channels<Op, 1>(row, window, c, out);
    // The last vector overlaps the one before.
    if (c < row.channels) Channels<Op, 1>(row, window, row.channels - lanes, out);
  }
}

void MaxPoolF32(const PoolRow<float>& row) {
  Pool<MaxF32>(row);
}
void AveragePoolF32(const PoolRow<float>& row) {
  Pool<AverageF32>(row);
}

template <typename To, typename From>
PoolRow<To> As(const PoolRow<From>& row, const PoolWindow<From>& window, PoolWindow<To>& to) {
  to = {reinterpret_cast<const To*>(window.first), window.counts, window.divisor};
  return {&to, 1, row.steps, row.channels, reinterpret_cast<To*>(row.out), row.out_stride};
}

void MaxPool8(const PoolRow<uint8_t>& row, bool is_signed) {
  if (!is_signed) return Pool<MaxBytes<uint8_t>>(row);
  for (size_t i = 0; i < row.window_count; ++i) {
    PoolWindow<int8_t> window;
    PoolRow<int8_t> one = As(row, row.windows[i], window);
    one.out += i * row.out_stride;
    Pool<MaxBytes<int8_t>>(one);
  }
}

// Sums a piece of the channels in int32, then divides without SIMD, which has no integer division.
template <typename T>
void AverageBytes(const PoolRow<uint8_t>& row, const PoolWindow<uint8_t>& window, uint8_t* out) {
  constexpr size_t kPiece = 256;
  const hn::CappedTag<int32_t, 16> d;
  [[maybe_unused]] const size_t lanes = hn::Lanes(d);
  HWY_ALIGN int32_t sums[kPiece];
  for (size_t c = 0; c < row.channels; c += kPiece) {
    const size_t n = std::min(kPiece, row.channels - c);
    std::fill_n(sums, n, 0);
    for (int64_t i = 0; i < window.counts[0]; ++i)
      for (int64_t j = 0; j < window.counts[1]; ++j)
        for (int64_t k = 0; k < window.counts[2]; ++k) {
          const T* tap = reinterpret_cast<const T*>(window.first) + c + i * row.steps[0] +
                         j * row.steps[1] + k * row.steps[2];
          size_t s = 0;
#if HWY_TARGET != HWY_SCALAR
          const hn::Rebind<T, decltype(d)> d8;
          for (; s + lanes <= n; s += lanes)
            hn::Store(hn::Add(hn::Load(d, sums + s), hn::PromoteTo(d, hn::LoadU(d8, tap + s))), d,
                      sums + s);
#endif
          for (; s < n; ++s) sums[s] += tap[s];
        }
    const auto divisor = static_cast<int32_t>(window.divisor);
    const int32_t half = divisor / 2;
    for (size_t s = 0; s < n; ++s)
      out[c + s] = static_cast<uint8_t>((sums[s] > 0 ? sums[s] + half : sums[s] - half) / divisor);
  }
}

void AveragePool8(const PoolRow<uint8_t>& row, bool is_signed) {
  for (size_t i = 0; i < row.window_count; ++i) {
    uint8_t* out = row.out + i * row.out_stride;
    if (is_signed)
      AverageBytes<int8_t>(row, row.windows[i], out);
    else
      AverageBytes<uint8_t>(row, row.windows[i], out);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(MaxPoolF32);
HWY_EXPORT(AveragePoolF32);
HWY_EXPORT(MaxPool8);
HWY_EXPORT(AveragePool8);

void RunMaxPoolF32(const PoolRow<float>& row) {
  HWY_DYNAMIC_DISPATCH(MaxPoolF32)(row);
}
void RunAveragePoolF32(const PoolRow<float>& row) {
  HWY_DYNAMIC_DISPATCH(AveragePoolF32)(row);
}
void RunMaxPool8(const PoolRow<uint8_t>& row, bool is_signed) {
  HWY_DYNAMIC_DISPATCH(MaxPool8)(row, is_signed);
}
void RunAveragePool8(const PoolRow<uint8_t>& row, bool is_signed) {
  HWY_DYNAMIC_DISPATCH(AveragePool8)(row, is_signed);
}

}  // namespace nn
#endif  // HWY_ONCE
