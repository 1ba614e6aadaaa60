#include "exec/kernels/window/grid_sample.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/window/grid_sample.cc"
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

// ---- Positions

// The steps are those of ops/nn/resize/grid_sample.cc, for a vector of points.
struct Sampler {
  GridAxisF32 axis;
  V n, low, high;

  explicit Sampler(const GridAxisF32& a) : axis(a) {
    const auto size = static_cast<float>(a.size);
    n = hn::Set(D(), size);
    low = hn::Set(D(), a.align_corners ? 0.0f : -0.5f);
    high = hn::Set(D(), a.align_corners ? size - 1 : size - 0.5f);
  }

  static HWY_INLINE V Clamp(V p, V least, V most) {
    return hn::IfThenElse(hn::Lt(p, least), least, hn::IfThenElse(hn::Lt(most, p), most, p));
  }

  HWY_INLINE V Reflect(V p) const {
    const D d;
    const V range = hn::Sub(high, low);
    const auto below = hn::Lt(p, low);
    const V beyond = hn::IfThenElse(below, hn::Sub(low, p), hn::Sub(p, high));
    const V turns = M::Floor(hn::Div(beyond, range));
    const V rest = hn::Sub(beyond, hn::Mul(turns, range));
    const V half = hn::Mul(turns, hn::Set(d, 0.5f));
    const V odd = hn::Sub(half, M::Floor(half));  // 0 or 1/2
    // An odd number of turns comes back from the other end.
    const V from_low = hn::Add(low, rest);
    const V from_high = hn::Sub(high, rest);
    const auto even = hn::Eq(odd, hn::Zero(d));
    const V turned = hn::IfThenElse(below, hn::IfThenElse(even, from_low, from_high),
                                    hn::IfThenElse(even, from_high, from_low));
    const auto inside = hn::And(hn::Ge(p, low), hn::Le(p, high));
    const V whole = axis.align_corners && axis.size == 1 ? low : turned;
    return hn::IfThenElse(inside, p, whole);
  }

  HWY_INLINE V Position(V g) const {
    const D d;
    const V one = hn::Set(d, 1.0f);
    const V two = hn::Set(d, 2.0f);
    const V far = hn::Set(d, 0x1p30f);
    const V to = hn::Add(g, one);
    V p = axis.align_corners ? hn::Mul(hn::Div(to, two), hn::Sub(n, one))
                             : hn::Div(hn::Sub(hn::Mul(to, n), one), two);
    p = hn::IfThenElse(hn::IsNaN(p), hn::Neg(far), p);
    p = Clamp(p, hn::Neg(far), far);
    if (axis.mode == ResizeMode::kNearest) p = M::Round(p);
    if (axis.padding == GridPadding::kZeros) return p;
    if (axis.padding == GridPadding::kReflection) return Reflect(p);
    if (axis.mode == ResizeMode::kCubic) return p;
    const auto inside = hn::And(hn::Ge(p, low), hn::Le(p, high));
    return hn::IfThenElse(inside, p, Clamp(p, hn::Zero(d), hn::Sub(n, one)));
  }

  // The element used for a position that may be outside the axis.
  HWY_INLINE I Element(I index) const {
    const DI di;
    const I zero = hn::Zero(di);
    const I last = hn::Set(di, static_cast<int32_t>(axis.size - 1));
    const I inside = hn::Max(zero, hn::Min(index, last));
    const auto outside = hn::Ne(inside, index);
    if (axis.padding == GridPadding::kZeros) return hn::IfThenElse(outside, hn::Set(di, -1), index);
    if (axis.padding == GridPadding::kBorder) return inside;
    const I reflected = hn::ConvertTo(di, Reflect(hn::ConvertTo(D(), index)));
    return hn::IfThenElse(outside, hn::Max(zero, hn::Min(reflected, last)), index);
  }

  static HWY_INLINE V Cubic(V c) {
    const D d;
    constexpr float a = -0.75f;
    const V one = hn::Set(d, 1.0f);
    const V near = hn::Add(
        hn::Mul(hn::Mul(hn::Sub(hn::Mul(hn::Set(d, a + 2), c), hn::Set(d, a + 3)), c), c), one);
    const V outer =
        hn::Sub(hn::Mul(hn::Add(hn::Mul(hn::Sub(hn::Mul(hn::Set(d, a), c), hn::Set(d, 5 * a)), c),
                                hn::Set(d, 8 * a)),
                        c),
                hn::Set(d, 4 * a));
    return hn::IfThenElse(hn::Le(c, one), near,
                          hn::IfThenElse(hn::Lt(c, hn::Set(d, 2.0f)), outer, hn::Zero(d)));
  }
};

// A vector of points, from point i on.
HWY_INLINE void TapsAt(const Sampler& s, V g, size_t i, GridTapsF32& taps) {
  const D d;
  const DI di;
  const V p = s.Position(g);
  const auto add = [&](size_t t, I index, V weight) {
    hn::Store(s.Element(index), di, taps.index[t].data() + i);
    hn::Store(weight, d, taps.weight[t].data() + i);
  };
  if (s.axis.mode == ResizeMode::kNearest) return add(0, hn::ConvertTo(di, p), hn::Set(d, 1.0f));
  const V floor = M::Floor(p);
  const V distance = hn::Sub(p, floor);
  const I at = hn::ConvertTo(di, floor);
  if (s.axis.mode == ResizeMode::kLinear) {
    add(0, at, hn::Sub(hn::Set(d, 1.0f), distance));
    add(1, hn::Add(at, hn::Set(di, 1)), distance);
    return;
  }
  for (int32_t tap = 0; tap < 4; ++tap) {
    const int32_t t = tap - 1;
    add(static_cast<size_t>(tap), hn::Add(at, hn::Set(di, t)),
        Sampler::Cubic(hn::Abs(hn::Sub(hn::Set(d, static_cast<float>(t)), distance))));
  }
}

void GridAxis(const GridAxisF32& axis, const float* grid, size_t stride, size_t n,
              GridTapsF32& taps) {
  const Sampler sampler(axis);
  HWY_ALIGN float part[kLanes] = {};
  for (size_t i = 0; i < n; i += kLanes) {
    const size_t count = std::min(kLanes, n - i);
    for (size_t k = 0; k < count; ++k) part[k] = grid[(i + k) * stride];
    TapsAt(sampler, hn::Load(D(), part), i, taps);
  }
}

// ---- Values

// Axis kAxis and all after it for a vector of channels of point i.
template <size_t kAxis, size_t kAxes, size_t kTaps>
HWY_INLINE V Channels(const GridPointsF32& g, size_t i, const float* x, size_t have) {
  if constexpr (kAxis == kAxes) {
    return LoadSome(D(), x, have);
  } else {
    const D d;
    const GridTapsF32& taps = g.taps[kAxis];
    V sum = hn::Zero(d);
    NN_UNROLL
    for (size_t t = 0; t < kTaps; ++t) {
      const int32_t index = taps.index[t][i];
      const V value = index < 0
                          ? hn::Zero(d)
                          : Channels<kAxis + 1, kAxes, kTaps>(
                                g, i, x + static_cast<int64_t>(index) * g.strides[kAxis], have);
      sum = kTaps == 1 ? value : M::Fma(hn::Set(d, taps.weight[t][i]), value, sum);
    }
    return sum;
  }
}

// The same for a vector of points starting at point i and one channel. x + at is the element
// selected by the previous axes.
template <size_t kAxis, size_t kAxes, size_t kTaps>
HWY_INLINE V Points(const GridPointsF32& g, size_t i, I at) {
  if constexpr (kAxis == kAxes) {
    return M::Gather(g.x, at);
  } else {
    const D d;
    const DI di;
    const GridTapsF32& taps = g.taps[kAxis];
    const I stride = hn::Set(di, g.strides[kAxis]);
    V sum = hn::Zero(d);
    NN_UNROLL
    for (size_t t = 0; t < kTaps; ++t) {
      const I index = hn::Load(di, taps.index[t].data() + i);
      const auto outside = hn::RebindMask(d, hn::Lt(index, hn::Zero(di)));
      const I from = hn::Add(at, hn::Mul(hn::Max(index, hn::Zero(di)), stride));
      const V value =
          hn::IfThenElse(outside, hn::Zero(d), Points<kAxis + 1, kAxes, kTaps>(g, i, from));
      sum = kTaps == 1 ? value : M::Fma(hn::Load(d, taps.weight[t].data() + i), value, sum);
    }
    return sum;
  }
}

// With few channels, lanes are points.
constexpr size_t kFewChannels = kLanes >= 8 ? 8 : 4;

template <size_t kAxes, size_t kTaps>
HWY_NOINLINE void Sample(const GridPointsF32& g) {
  if (g.channels >= kFewChannels) {
    for (size_t i = 0; i < g.n; ++i)
      for (size_t c = 0; c < g.channels; c += kLanes)
        StoreSome(Channels<0, kAxes, kTaps>(g, i, g.x + c, g.channels - c), D(),
                  g.out + i * g.out_stride + c, g.channels - c);
    return;
  }
  const DI di;
  HWY_ALIGN float part[kLanes];
  for (size_t i = 0; i < g.n; i += kLanes) {
    const size_t count = std::min(kLanes, g.n - i);
    for (size_t c = 0; c < g.channels; ++c) {
      hn::Store(Points<0, kAxes, kTaps>(g, i, hn::Set(di, static_cast<int32_t>(c))), D(), part);
      for (size_t k = 0; k < count; ++k) g.out[(i + k) * g.out_stride + c] = part[k];
    }
  }
}

template <size_t kAxes>
void SampleAxes(const GridPointsF32& g) {
  if (g.mode == ResizeMode::kNearest) return Sample<kAxes, 1>(g);
  if (g.mode == ResizeMode::kLinear) return Sample<kAxes, 2>(g);
  Sample<kAxes, 4>(g);
}

void GridPoints(const GridPointsF32& g) {
  if (g.axes == 1) return SampleAxes<1>(g);
  if (g.axes == 2) return SampleAxes<2>(g);
  SampleAxes<3>(g);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(GridAxis);
HWY_EXPORT(GridPoints);

void RunGridAxisF32(const GridAxisF32& axis, const float* grid, size_t stride, size_t n,
                    GridTapsF32& taps) {
  HWY_DYNAMIC_DISPATCH(GridAxis)(axis, grid, stride, n, taps);
}
void RunGridPointsF32(const GridPointsF32& points) {
  HWY_DYNAMIC_DISPATCH(GridPoints)(points);
}

}  // namespace nn
#endif  // HWY_ONCE
