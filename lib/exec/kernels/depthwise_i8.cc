#include "exec/kernels/depthwise_i8.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/depthwise_i8.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/matrix_f32.h"
#include "exec/kernels/requant-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D32 = hn::CappedTag<int32_t, kPanelWidth>;
using V32 = hn::Vec<D32>;
constexpr size_t kLanes = hn::MaxLanes(D32());

HWY_INLINE void Finish(const DepthwiseI8& g, V32 sum, size_t c, uint8_t* out, size_t have) {
  const D32 d;
  const DepthwiseI8Filter& f = *g.filter;
  const auto lanes =
      RescaleLanes<D32>::Load(f.multiplier.data() + c, f.left.data() + c, f.right.data() + c);
  V32 y = hn::Add(RescaleVector(d, sum, lanes), hn::Set(d, g.out_zero));
  y = hn::Min(hn::Set(d, g.out_max), hn::Max(hn::Set(d, g.out_min), y));
  HWY_ALIGN int32_t words[kLanes];
  hn::Store(y, d, words);
  for (size_t i = 0; i < have; ++i) out[i] = static_cast<uint8_t>(words[i]);
}

// Channels [c, c + kLanes) of a tap as int32, 0 to 255; lanes beyond `have` are not read.
HWY_INLINE V32 LoadTap(const uint8_t* p, [[maybe_unused]] size_t have, uint8_t flip) {
  const D32 d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, p[0] ^ flip);
#else
  const hn::Rebind<uint8_t, D32> d8;
  const auto flips = hn::Set(d8, flip);
  if (have >= kLanes) return hn::PromoteTo(d, hn::Xor(hn::LoadU(d8, p), flips));
  HWY_ALIGN uint8_t part[kLanes] = {};
  std::memcpy(part, p, have);
  return hn::PromoteTo(d, hn::Xor(hn::Load(d8, part), flips));
#endif
}

// sum += taps t and t + 1: bytes and 16-bit weights make 32-bit products.
HWY_INLINE V32 PairOfTaps(V32 sum, V32 x0, V32 x1, const int16_t* w) {
  const D32 d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Add(sum, hn::Set(d, hn::GetLane(x0) * w[0] + hn::GetLane(x1) * w[1]));
#else
  const hn::Repartition<int16_t, D32> d16;
  const auto weights = hn::LoadU(d16, w);
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  // Both inputs in one lane as int16, against the pair of weights.
  const auto x = hn::BitCast(d16, hn::Or(x0, hn::ShiftLeft<16>(x1)));
#if HWY_TARGET == HWY_AVX2
  return hn::Add(sum, V32{_mm256_madd_epi16(x.raw, weights.raw)});
#elif HWY_TARGET <= HWY_AVX3
  return hn::Add(sum, V32{_mm512_madd_epi16(x.raw, weights.raw)});
#else
  return hn::Add(sum, V32{_mm_madd_epi16(x.raw, weights.raw)});
#endif
#else
  const auto even = hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(d, weights)));
  const auto odd = hn::ShiftRight<16>(hn::BitCast(d, weights));
  return hn::Add(sum, hn::Add(hn::Mul(x0, even), hn::Mul(x1, odd)));
#endif
#endif
}

void Depthwise(const DepthwiseI8& g, size_t count, size_t out_stride) {
  const D32 d;
  const DepthwiseI8Filter& f = *g.filter;
  const uint8_t flip = g.is_signed ? 0x80 : 0;
  for (size_t c = 0; c < f.channels; c += kLanes) {
    const size_t have = std::min(kLanes, f.channels - c);
    const V32 bias = hn::LoadU(d, f.bias.data() + c);
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* const* taps = g.taps + i * f.taps;
      const int16_t* w = f.words.data() + c * 2;
      V32 sum = bias;
      size_t t = 0;
      for (; t + 2 <= f.taps; t += 2, w += f.width * 2)
        sum = PairOfTaps(sum, LoadTap(taps[t] + c, have, flip),
                         LoadTap(taps[t + 1] + c, have, flip), w);
      if (t < f.taps) sum = PairOfTaps(sum, LoadTap(taps[t] + c, have, flip), hn::Zero(d), w);
      Finish(g, sum, c, g.out + i * out_stride + c, have);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Depthwise);

DepthwiseI8Filter PackDepthwiseI8(const DepthwiseI8Weights& w) {
  DepthwiseI8Filter f;
  f.channels = w.channels;
  f.width = PackedSize(1, w.channels);
  f.taps = w.taps;
  f.words.assign((w.taps + 1) / 2 * f.width * 2, 0);
  f.bias.assign(f.width, 0);
  f.multiplier.assign(f.width, 0);
  f.left.assign(f.width, 0);
  f.right.assign(f.width, 0);
  const int32_t in_zero = w.in_zero + (w.in_signed ? 128 : 0);
  for (size_t c = 0; c < w.channels; ++c) {
    const int32_t zero = w.zero[w.zero.size() == 1 ? 0 : c];
    int32_t sum = 0;
    for (size_t t = 0; t < w.taps; ++t) {
      const uint8_t raw = w.w[t * w.tap_stride + c * w.channel_stride];
      const int32_t value = (w.is_signed ? static_cast<int8_t>(raw) : raw) - zero;
      sum += value;
      f.words[(t / 2 * f.width + c) * 2 + t % 2] = static_cast<int16_t>(value);
    }
    f.bias[c] = static_cast<int32_t>(static_cast<uint32_t>(w.bias.empty() ? 0 : w.bias[c]) -
                                     static_cast<uint32_t>(in_zero) * static_cast<uint32_t>(sum));
    const FixedMultiplier m = w.multipliers[c];
    f.multiplier[c] = m.multiplier;
    f.left[c] = std::max(m.shift, 0);
    f.right[c] = std::max(-m.shift, 0);
  }
  return f;
}

void RunDepthwiseI8(const DepthwiseI8& first, size_t count, size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(Depthwise)(first, count, out_stride);
}

}  // namespace nn
#endif  // HWY_ONCE
