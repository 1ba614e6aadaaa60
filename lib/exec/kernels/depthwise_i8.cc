#include "exec/kernels/depthwise_i8.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/depthwise_i8.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/int8-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

// One channel after the other.
std::vector<uint32_t> Slots(size_t channels) {
  std::vector<uint32_t> slots(channels);
  for (size_t c = 0; c < channels; ++c) slots[c] = static_cast<uint32_t>(c);
  return slots;
}

void Depthwise(const DepthwiseI8& g, size_t count, size_t out_stride) {
  const DepthwiseI8Filter& f = *g.filter;
  const uint8_t flip = g.result.is_signed ? 0x80 : 0;
  const hn::Sisd<int32_t> d;
  for (size_t i = 0; i < count; ++i)
    for (size_t c = 0; c < f.channels; ++c) {
      const uint8_t* const* taps = g.taps + i * f.taps;
      int32_t sum = f.bias[c];
      for (size_t t = 0; t < f.taps; ++t)
        sum += (taps[t][c] ^ flip) * f.words[(t / 2 * f.width + c) * 2 + t % 2];
      const Rescaler<decltype(d)> rescale(f.rescale, c);
      g.out[i * out_stride + c] = ToByte(g.result, hn::GetLane(rescale(hn::Set(d, sum))));
    }
}

#else

constexpr size_t kSmallest = 16;  // channels of the smallest block
using Largest = hn::CappedTag<uint8_t, 64>;

// Calls body(tag, first channel, first slot) for each block: as many channels as the tag has lanes,
// which are those of the largest vector or, at the end, of the smallest. The last block begins
// further left, so that it is whole, unless there are fewer channels than that.
template <class Body>
HWY_INLINE void ForEachBlock(size_t channels, const Body& body) {
  size_t c = 0, slot = 0;
  const auto all = [&](auto d8) HWY_ATTR {
    constexpr size_t kBytes = hn::MaxLanes(decltype(d8)());
    for (; c + kBytes <= channels; c += kBytes, slot += kBytes) body(d8, c, slot);
  };
  all(Largest());
  const hn::CappedTag<uint8_t, kSmallest> small;
  all(small);
  if (c < channels) body(small, channels < kSmallest ? 0 : channels - kSmallest, slot);
}

// Interleaving works on blocks of 128 bits, so four vectors of int32 hold the channels of a vector
// of bytes thus: of each 16 the first four, the next four ...
std::vector<uint32_t> Slots(size_t channels) {
  std::vector<uint32_t> slots;
  ForEachBlock(channels, [&](auto d8, size_t c, size_t) {
    constexpr size_t kBytes = hn::MaxLanes(decltype(d8)());
    for (size_t v = 0; v < 4; ++v)
      for (size_t lane = 0; lane < kBytes / 4; ++lane)
        slots.push_back(static_cast<uint32_t>(c + lane / 4 * 16 + v * 4 + lane % 4));
  });
  return slots;
}

// Blocks of kSmallest bytes, one at each of the places, as a vector; and back.
template <class D8, class At>
HWY_INLINE hn::Vec<D8> GatherBlocks(D8 d8, const At& at, size_t first = 0) {
  constexpr size_t kBytes = hn::MaxLanes(D8());
  if constexpr (kBytes == kSmallest) {
    return hn::LoadU(d8, at(first));
  } else {
    const hn::Half<D8> half;
    return hn::Combine(d8, GatherBlocks(half, at, first + kBytes / kSmallest / 2),
                       GatherBlocks(half, at, first));
  }
}
template <class D8, class At>
HWY_INLINE void ScatterBlocks(hn::Vec<D8> v, D8 d8, const At& at, size_t first = 0) {
  constexpr size_t kBytes = hn::MaxLanes(D8());
  if constexpr (kBytes == kSmallest) {
    hn::StoreU(v, d8, at(first));
  } else {
    const hn::Half<D8> half;
    ScatterBlocks(hn::LowerHalf(half, v), half, at, first);
    ScatterBlocks(hn::UpperHalf(half, v), half, at, first + kBytes / kSmallest / 2);
  }
}

// One vector of results from position i on: of the channels of a block at that position; or, kEach
// being false, of the smallest block at as many positions as make a vector.
template <template <class> class Scale, bool kEach, class D8>
NN_VNNI_ATTR HWY_INLINE void Outputs(const DepthwiseI8& g, D8 d8, size_t c, size_t slot, size_t i,
                                     size_t out_stride) {
  constexpr size_t kBytes = hn::MaxLanes(D8());
  const hn::Repartition<int32_t, D8> d;
  const hn::Repartition<int16_t, D8> d16;
  using V32 = hn::Vec<decltype(d)>;
  using V8 = hn::Vec<D8>;
  // Lanes of int32 that have entries of their own in the lists.
  constexpr size_t kLanes = (kEach ? kBytes : kSmallest) / 4;
  const std::conditional_t<kEach, LoadEach, LoadSameBlock> list;
  const DepthwiseI8Filter& f = *g.filter;
  const uint8_t* const* taps = g.taps + i * f.taps;
  uint8_t* to = g.out + i * out_stride + c;
  const size_t have = std::min(kBytes, f.channels - c);
  const V8 none = hn::Zero(d8);
  const ToBytes<D8> to_bytes(g.result);
  const auto load = [&](size_t t) HWY_ATTR {
    if constexpr (!kEach)
      return to_bytes.Flip(GatherBlocks(d8, [&](size_t p) { return taps[p * f.taps + t] + c; }));
    else if (kBytes > kSmallest || have == kBytes)
      return to_bytes.Flip(hn::LoadU(d8, taps[t] + c));
    else
      return to_bytes.Flip(LoadPart(d8, taps[t] + c, have));
  };
  const int16_t* w = f.words.data() + slot * 2;
  V32 s0 = list(d, f.bias.data() + slot);
  V32 s1 = list(d, f.bias.data() + slot + kLanes);
  V32 s2 = list(d, f.bias.data() + slot + 2 * kLanes);
  V32 s3 = list(d, f.bias.data() + slot + 3 * kLanes);
  for (size_t t = 0; t < f.taps; t += 2, w += f.width * 2) {
    const V8 x = load(t);
    const V8 z = t + 1 < f.taps ? load(t + 1) : none;
    const V8 lower = hn::InterleaveLower(d8, x, z);
    const V8 upper = hn::InterleaveUpper(d8, x, z);
    const auto words = [&](size_t v) HWY_ATTR { return list(d16, w + v * kLanes * 2); };
    s0 = AddPairDot(d, s0, hn::BitCast(d16, hn::InterleaveLower(d8, lower, none)), words(0));
    s1 = AddPairDot(d, s1, hn::BitCast(d16, hn::InterleaveUpper(d8, lower, none)), words(1));
    s2 = AddPairDot(d, s2, hn::BitCast(d16, hn::InterleaveLower(d8, upper, none)), words(2));
    s3 = AddPairDot(d, s3, hn::BitCast(d16, hn::InterleaveUpper(d8, upper, none)), words(3));
  }
  const auto rescale = [&](V32 s, size_t v) HWY_ATTR {
    return Scale<decltype(d)>(f.rescale, slot + v * kLanes, list)(s);
  };
  const V8 y = to_bytes(rescale(s0, 0), rescale(s1, 1), rescale(s2, 2), rescale(s3, 3));
  if constexpr (!kEach) {
    ScatterBlocks(y, d8, [&](size_t p) { return to + p * out_stride; });
  } else if (kBytes > kSmallest || have == kBytes) {
    hn::StoreU(y, d8, to);
  } else {
    HWY_ALIGN uint8_t part[kBytes];
    hn::Store(y, d8, part);
    CopyPart(part, to, have);
  }
}

template <template <class> class Scale, class D8>
NN_VNNI_ATTR HWY_INLINE void Block(const DepthwiseI8& g, D8 d8, size_t c, size_t slot, size_t count,
                                   size_t out_stride) {
  size_t i = 0;
  if constexpr (hn::MaxLanes(D8()) < hn::MaxLanes(Largest())) {
    constexpr size_t kPositions = hn::MaxLanes(Largest()) / kSmallest;
    if (c + kSmallest <= g.filter->channels)
      for (; i + kPositions <= count; i += kPositions)
        Outputs<Scale, false>(g, Largest(), c, slot, i, out_stride);
  }
  for (; i < count; ++i) Outputs<Scale, true>(g, d8, c, slot, i, out_stride);
}

void Depthwise(const DepthwiseI8& g, size_t count, size_t out_stride) {
  ForEachBlock(g.filter->channels, [&](auto d8, size_t c, size_t slot) NN_VNNI_ATTR {
    if (g.filter->rescale.plain)
      Block<PlainRescaler>(g, d8, c, slot, count, out_stride);
    else
      Block<Rescaler>(g, d8, c, slot, count, out_stride);
  });
}

#endif  // HWY_TARGET

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Depthwise);
HWY_EXPORT(Slots);

DepthwiseI8Filter PackDepthwiseI8(const DepthwiseI8Weights& w) {
  DepthwiseI8Filter f;
  f.channels = w.channels;
  const std::vector<uint32_t> slots = HWY_DYNAMIC_DISPATCH(Slots)(w.channels);
  f.width = slots.size();
  f.taps = w.taps;
  f.words.assign((w.taps + 1) / 2 * f.width * 2, 0);
  f.bias.assign(f.width, 0);
  f.rescale = RescaleTable(f.width);
  const int32_t in_zero = w.in_zero + (w.in_signed ? 128 : 0);
  for (size_t slot = 0; slot < f.width; ++slot) {
    const size_t c = slots[slot];
    if (c >= w.channels) continue;
    const int32_t zero = w.zero[w.zero.size() == 1 ? 0 : c];
    int32_t sum = 0;
    for (size_t t = 0; t < w.taps; ++t) {
      const uint8_t raw = w.w[t * w.tap_stride + c * w.channel_stride];
      const int32_t value = (w.is_signed ? static_cast<int8_t>(raw) : raw) - zero;
      sum += value;
      f.words[(t / 2 * f.width + slot) * 2 + t % 2] = static_cast<int16_t>(value);
    }
    f.bias[slot] =
        static_cast<int32_t>(static_cast<uint32_t>(w.bias.empty() ? 0 : w.bias[c]) -
                             static_cast<uint32_t>(in_zero) * static_cast<uint32_t>(sum));
    f.rescale.Set(slot, w.multipliers[c]);
  }
  return f;
}

void RunDepthwiseI8(const DepthwiseI8& first, size_t count, size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(Depthwise)(first, count, out_stride);
}

}  // namespace nn
#endif  // HWY_ONCE
