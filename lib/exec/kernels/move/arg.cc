#include "exec/kernels/move/arg.h"

#include <algorithm>
#include <array>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/move/arg.cc"
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
using I = hn::Vec<DI>;
constexpr size_t kLanes = hn::MaxLanes(D());

// Whether v comes before w. Signs are set so that the largest element is searched for.
HWY_INLINE hn::Mask<D> Before(V v, V w) {
  return hn::Or(hn::Gt(v, w), hn::And(hn::IsNaN(v), hn::Eq(w, w)));
}

struct Best {
  V value;
  I index;

  template <bool kLast>
  HWY_INLINE void Add(V v, I at) {
    const auto better = kLast ? hn::Not(Before(value, v)) : Before(v, value);
    value = hn::IfThenElse(better, v, value);
    index = hn::IfThenElse(hn::RebindMask(DI(), better), at, index);
  }
};

// Lanes are columns.
template <bool kLast>
void Columns(const ArgColumnsF32& g, V sign) {
  const D d;
  const DI di;
  const I lanes = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(g.column_step)));
  HWY_ALIGN int32_t found[kLanes];
  for (size_t c = 0; c < g.count; c += kLanes) {
    // The last vector overlaps the one before; lanes without a column repeat the first.
    const bool whole = g.count >= kLanes;
    const size_t first = whole ? std::min(c, g.count - kLanes) : 0;
    const I some =
        whole ? lanes
              : hn::IfThenElse(hn::Lt(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(g.count))),
                               lanes, hn::Zero(di));
    const float* x = g.x + first * g.column_step;
    const auto load = [&](size_t i) {
      const V v = whole && g.column_step == 1 ? hn::LoadU(d, x + i * g.step)
                                              : M::Gather(x + i * g.step, some);
      return hn::Xor(v, sign);
    };
    Best best{load(0), hn::Zero(di)};
    for (size_t i = 1; i < g.length; ++i)
      best.Add<kLast>(load(i), hn::Set(di, static_cast<int32_t>(i)));
    hn::Store(best.index, di, found);
    std::copy_n(found, std::min(kLanes, g.count), g.out + first);
  }
}

// Lanes are elements i, i + kLanes, ... of a column. Requires step 1 and length >= kLanes.
template <bool kLast>
int32_t Row(const float* x, size_t length, V sign) {
  const D d;
  const DI di;
  Best best{hn::Xor(hn::LoadU(d, x), sign), hn::Iota(di, 0)};
  I at = best.index;
  const I step = hn::Set(di, static_cast<int32_t>(kLanes));
  size_t i = kLanes;
  for (; i + kLanes <= length; i += kLanes) {
    at = hn::Add(at, step);
    best.Add<kLast>(hn::Xor(hn::LoadU(d, x + i), sign), at);
  }
  if (i < length)  // overlaps the previous vector: the same elements at the same indices
    best.Add<kLast>(hn::Xor(hn::LoadU(d, x + length - kLanes), sign),
                    hn::Iota(di, static_cast<int32_t>(length - kLanes)));
  HWY_ALIGN float values[kLanes];
  HWY_ALIGN int32_t places[kLanes];
  hn::Store(best.value, d, values);
  hn::Store(best.index, di, places);
  size_t first = 0;
  for (size_t k = 1; k < kLanes; ++k) {
    const float v = values[k];
    const float w = values[first];
    const bool before = v > w || (v != v && w == w);
    const bool after = w > v || (w != w && v == v);
    const bool earlier = kLast ? places[k] > places[first] : places[k] < places[first];
    if (before || (!after && earlier)) first = k;
  }
  return places[first];
}

template <bool kLast>
void Arg(const ArgColumnsF32& g) {
  constexpr size_t kLongRow = 64;
  // Flipping the signs makes the smallest element the largest.
  const V sign = hn::Set(D(), g.largest ? 0.0f : -0.0f);
  if (g.step != 1 || g.length < kLongRow) return Columns<kLast>(g, sign);
  for (size_t c = 0; c < g.count; ++c)
    g.out[c] = Row<kLast>(g.x + c * g.column_step, g.length, sign);
}

void ArgColumns(const ArgColumnsF32& g) {
  g.last ? Arg<true>(g) : Arg<false>(g);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(ArgColumns);

void RunArgColumnsF32(const ArgColumnsF32& columns) {
  HWY_DYNAMIC_DISPATCH(ArgColumns)(columns);
}

}  // namespace nn
#endif  // HWY_ONCE
