#include "exec/kernels/depthwise_f32.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/depthwise_f32.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

using D = hn::CappedTag<float, kPanelWidth>;
using M = SimdMachine<D>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());

// Neighbouring outputs at a time for W vectors of channels, so that sums, a row of the filter and
// the inputs fit into registers. Without fused multiply-adds the emulation keeps the registers
// busy.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr size_t kMostOutputs = 8;
#else
constexpr size_t kMostOutputs = 4;
#endif
template <size_t W, int kKernel>
constexpr size_t kOutputs = !HWY_NATIVE_FMA   ? 1
                            : W * kKernel > 8 ? kMostOutputs / 2
                                              : kMostOutputs;

// Channels whose filter stays in the first-level cache while a row is walked.
constexpr size_t kChannelBlock = 64;

// A vector of channels [c, c + kLanes), or the last `have` of them.
template <bool kPartial>
HWY_INLINE V LoadChannels(const float* p, size_t have) {
  const D d;
  if constexpr (!kPartial) return hn::LoadU(d, p);
  HWY_ALIGN float part[kLanes] = {};
  std::memcpy(part, p, have * sizeof(float));
  return hn::Load(d, part);
}

template <bool kPartial>
HWY_INLINE void StoreChannels(V v, float* p, size_t have) {
  const D d;
  if constexpr (!kPartial) {
    hn::StoreU(v, d, p);
    return;
  }
  HWY_ALIGN float part[kLanes];
  hn::Store(v, d, part);
  std::memcpy(p, part, have * sizeof(float));
}

// Calls take(i, inputs) for each channel i of a group, in order: in each lane that channel of the
// lane's group. `from` is where the vector's channels begin at one position of the input, `c` the
// first one's number.
template <size_t kGroup, class Take>
HWY_INLINE void ForEachInput(const float* HWY_RESTRICT from, size_t c, const Take& take) {
  const D d;
  if constexpr (kLanes <= kGroup) {
    const float* group = from - c % kGroup;
    NN_UNROLL
    for (size_t i = 0; i < kGroup; ++i) take(i, hn::Set(d, group[i]));
  } else {
#if HWY_TARGET != HWY_SCALAR
    const V channels = hn::LoadU(d, from);
    const auto take_four = [&](size_t first, V four) HWY_ATTR {
      take(first, hn::Broadcast<0>(four));
      take(first + 1, hn::Broadcast<1>(four));
      take(first + 2, hn::Broadcast<2>(four));
      take(first + 3, hn::Broadcast<3>(four));
    };
    if constexpr (kGroup == 4) {
      take_four(0, channels);
    } else {
#if HWY_TARGET <= HWY_AVX3
      // Blocks of four lanes, two a group.
      take_four(0, V{_mm512_shuffle_f32x4(channels.raw, channels.raw, _MM_PERM_CCAA)});
      take_four(4, V{_mm512_shuffle_f32x4(channels.raw, channels.raw, _MM_PERM_DDBB)});
#endif
    }
#endif
  }
}

// A row of a filter of kKernel taps on T neighbouring outputs of one vector of channels, in groups
// of kGroup: as FilterRow.
template <size_t T, size_t kGroup, int kKernel, int kStride, bool kInner>
HWY_INLINE void GroupedFilterRow(const DepthwiseRowF32& g, const float* HWY_RESTRICT row,
                                 const float* HWY_RESTRICT filter, int64_t x0, size_t c,
                                 V (&acc)[T][1]) {
  const D d;
  const auto input = [&](auto number) HWY_ATTR {
    constexpr size_t j = decltype(number)::value;
    const int64_t x = x0 + static_cast<int64_t>(j);
    if (!kInner && (x < 0 || x >= g.input_width)) return;
    // Of an output the taps come in order, and of a tap the channels.
    const float* from = row + x * static_cast<std::ptrdiff_t>(g.in_stride);
    ForEachInput<kGroup>(from, c, [&](size_t i, V channel) HWY_ATTR {
      NN_UNROLL
      for (size_t t = 0; t < T; ++t) {
        if (j < t * kStride || j >= t * kStride + kKernel) continue;
        const size_t tap = j - t * kStride;
        const V w = hn::LoadU(d, filter + (tap * kGroup + i) * g.filter_stride);
        acc[t][0] = M::Fma(channel, w, acc[t][0]);
      }
    });
  };
  ForEachNumber<(T - 1) * kStride + kKernel>(input);
}

// A row of the filter on T neighbouring outputs x W vectors of channels, the first tap of the first
// output at position x0 of the input. kKernel and kStride are compile-time where they are small: an
// input is then loaded once for all outputs that it belongs to. Else they are 0.
template <size_t T, size_t W, int kKernel, int kStride, bool kInner, bool kPartial>
HWY_INLINE void FilterRow(const DepthwiseRowF32& g, const float* HWY_RESTRICT row,
                          const float* HWY_RESTRICT filter, int64_t x0, size_t have,
                          V (&acc)[T][W]) {
  const D d;
  const auto in_stride = static_cast<std::ptrdiff_t>(g.in_stride);
  const auto inside = [&](int64_t x) { return kInner || (x >= 0 && x < g.input_width); };
  if constexpr (kKernel != 0) {
    V w[static_cast<size_t>(kKernel)][W];
    NN_UNROLL
    for (size_t k = 0; k < kKernel; ++k) {
      NN_UNROLL
      for (size_t v = 0; v < W; ++v)
        w[k][v] = hn::LoadU(d, filter + k * g.filter_stride + v * kLanes);
    }
    const float* from = row + x0 * in_stride;
    NN_UNROLL
    for (size_t j = 0; j < (T - 1) * kStride + kKernel; ++j, from += in_stride) {
      if (!inside(x0 + static_cast<int64_t>(j))) continue;
      V x[W];
      NN_UNROLL
      for (size_t v = 0; v < W; ++v) x[v] = LoadChannels<kPartial>(from + v * kLanes, have);
      NN_UNROLL
      for (size_t t = 0; t < T; ++t) {
        if (j < t * kStride || j >= t * kStride + kKernel) continue;
        NN_UNROLL
        for (size_t v = 0; v < W; ++v) acc[t][v] = M::Fma(x[v], w[j - t * kStride][v], acc[t][v]);
      }
    }
  } else {
    for (int64_t k = 0; k < g.kernel; ++k, filter += g.filter_stride) {
      V w[W];
      NN_UNROLL
      for (size_t v = 0; v < W; ++v) w[v] = hn::LoadU(d, filter + v * kLanes);
      NN_UNROLL
      for (size_t t = 0; t < T; ++t) {
        const int64_t x = x0 + static_cast<int64_t>(t) * g.stride + k * g.dilation;
        if (!inside(x)) continue;
        NN_UNROLL
        for (size_t v = 0; v < W; ++v)
          acc[t][v] = M::Fma(LoadChannels<kPartial>(row + x * in_stride + v * kLanes, have), w[v],
                             acc[t][v]);
      }
    }
  }
}

// T neighbouring outputs x W vectors of channels. Inner: all taps along the row are inside.
template <size_t T, size_t W, size_t kGroup, int kKernel, int kStride, bool kInner, bool kPartial>
HWY_NOINLINE void Outputs(const DepthwiseRowF32& g, int64_t at, size_t c, size_t have) {
  const D d;
  V acc[T][W];
  NN_UNROLL
  for (size_t t = 0; t < T; ++t) {
    NN_UNROLL
    for (size_t v = 0; v < W; ++v) acc[t][v] = hn::Zero(d);
  }
  const float* filter = g.filter + c;
  const int64_t x0 = at * g.stride - g.pad;
  for (size_t r = 0; r < g.row_count;
       ++r, filter += static_cast<size_t>(g.kernel) * kGroup * g.filter_stride) {
    if (g.rows[r] == nullptr) continue;
    if constexpr (kGroup > 1)
      GroupedFilterRow<T, kGroup, kKernel, kStride, kInner>(g, g.rows[r] + c, filter, x0, c, acc);
    else
      FilterRow<T, W, kKernel, kStride, kInner, kPartial>(g, g.rows[r] + c, filter, x0, have, acc);
  }
  const EpilogueF32& e = g.epilogue;
  const V low = hn::Set(d, e.min);
  const V high = hn::Set(d, e.max);
  NN_UNROLL
  for (size_t v = 0; v < W; ++v) {
    const size_t channel = c + v * kLanes;
    const V bias = e.bias == nullptr ? hn::Zero(d) : LoadChannels<kPartial>(e.bias + channel, have);
    NN_UNROLL
    for (size_t t = 0; t < T; ++t) {
      const auto output = static_cast<size_t>(at - g.first) + t;
      V y = hn::Add(acc[t][v], bias);
      if (e.scale != nullptr)
        y = hn::Add(hn::Mul(y, LoadChannels<kPartial>(e.scale + channel, have)),
                    LoadChannels<kPartial>(e.shift + channel, have));
      if (e.residual != nullptr)
        y = hn::Add(
            y, LoadChannels<kPartial>(e.residual + output * e.residual_stride + channel, have));
      StoreChannels<kPartial>(M::Min(high, M::Max(low, y)), g.out + output * g.out_stride + channel,
                              have);
    }
  }
}

template <size_t T, size_t W, size_t kGroup, int kKernel, int kStride, bool kPartial>
HWY_INLINE void Block(const DepthwiseRowF32& g, int64_t at, bool inner, size_t c, size_t have) {
  if (inner)
    Outputs<T, W, kGroup, kKernel, kStride, true, kPartial>(g, at, c, have);
  else
    Outputs<T, W, kGroup, kKernel, kStride, false, kPartial>(g, at, c, have);
}

// The whole row for W vectors of channels.
template <size_t W, size_t kGroup, int kKernel, int kStride, bool kPartial>
HWY_INLINE void Walk(const DepthwiseRowF32& g, size_t c, size_t have) {
  constexpr size_t kT = kOutputs<W, kKernel>;
  // Outputs whose taps, x0 to x0 + reach, are all inside.
  const int64_t reach = (g.kernel - 1) * g.dilation;
  const int64_t inner_first = (g.pad - std::min<int64_t>(0, reach) + g.stride - 1) / g.stride;
  const int64_t last_start = g.input_width - 1 - std::max<int64_t>(0, reach) + g.pad;
  const int64_t inner_end = last_start < 0 ? 0 : last_start / g.stride + 1;
  const int64_t end = g.first + g.count;
  for (int64_t at = g.first; at < end;) {
    const auto left = static_cast<size_t>(end - at);
    const auto inner = [&](size_t t) {
      return at >= inner_first && at + static_cast<int64_t>(t) <= inner_end;
    };
    if (left >= kT) {
      Block<kT, W, kGroup, kKernel, kStride, kPartial>(g, at, inner(kT), c, have);
      at += kT;
    } else if (kT > 4 && left >= 4) {
      Block<std::min<size_t>(kT, 4), W, kGroup, kKernel, kStride, kPartial>(g, at, inner(4), c,
                                                                            have);
      at += 4;
    } else if (kT > 2 && left >= 2) {
      Block<std::min<size_t>(kT, 2), W, kGroup, kKernel, kStride, kPartial>(g, at, inner(2), c,
                                                                            have);
      at += 2;
    } else {
      Block<1, W, kGroup, kKernel, kStride, kPartial>(g, at, inner(1), c, have);
      ++at;
    }
  }
}

// The same where there are fewer channels than a vector has.
HWY_NOINLINE void WalkFew(const DepthwiseRowF32& g) {
  Walk<1, 1, 0, 0, true>(g, 0, g.channels);
}

template <int kKernel, int kStride>
HWY_NOINLINE void Channels(const DepthwiseRowF32& g) {
  if (g.channels < kLanes) return WalkFew(g);
  for (size_t block = 0; block < g.channels; block += kChannelBlock) {
    const size_t end = std::min(g.channels, block + kChannelBlock);
    size_t c = block;
    for (; c + 2 * kLanes <= end; c += 2 * kLanes)
      Walk<2, 1, kKernel, kStride, false>(g, c, kLanes);
    for (; c + kLanes <= end; c += kLanes) Walk<1, 1, kKernel, kStride, false>(g, c, kLanes);
    // The last vector overlaps the one before: channels are computed twice to the same bits.
    if (c < end) Walk<1, 1, kKernel, kStride, false>(g, end - kLanes, kLanes);
  }
}

// The whole row in groups of several channels, which are whole panels together.
template <size_t kGroup, int kKernel, int kStride>
HWY_NOINLINE void Groups(const DepthwiseRowF32& g) {
  for (size_t c = 0; c < g.channels; c += kLanes)
    Walk<1, kGroup, kKernel, kStride, false>(g, c, kLanes);
}

void DepthwiseRow(const DepthwiseRowF32& g) {
  if (g.group == 4) return g.stride == 1 ? Groups<4, 3, 1>(g) : Groups<4, 3, 2>(g);
  if (g.group == 8) return g.stride == 1 ? Groups<8, 3, 1>(g) : Groups<8, 3, 2>(g);
#if HWY_NATIVE_FMA
  if (g.dilation == 1) {
    if (g.kernel == 3 && g.stride == 1) return Channels<3, 1>(g);
    if (g.kernel == 3 && g.stride == 2) return Channels<3, 2>(g);
    if (g.kernel == 5 && g.stride == 1) return Channels<5, 1>(g);
    if (g.kernel == 5 && g.stride == 2) return Channels<5, 2>(g);
  }
#endif
  Channels<0, 0>(g);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(DepthwiseRow);

void RunDepthwiseRowF32(const DepthwiseRowF32& row) {
  HWY_DYNAMIC_DISPATCH(DepthwiseRow)(row);
}

}  // namespace nn
#endif  // HWY_ONCE
