#include "exec/kernels/depthwise_f32.h"

#include <algorithm>
#include <cstring>

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

// Neighbouring outputs at a time for W vectors of channels: as many as make enough accumulators.
// Without fused multiply-adds the emulation keeps the registers busy.
template <size_t W>
constexpr int64_t kOutputs = HWY_NATIVE_FMA ? (W == 2 ? 4 : 6) : 1;

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

// T neighbouring outputs x W vectors of channels. Inner: all taps along the row are inside. kKernel
// and kStride are compile-time where they are small, else 0.
template <size_t T, size_t W, int kKernel, int kStride, bool kInner, bool kPartial>
HWY_INLINE void Outputs(const DepthwiseRowF32& g, int64_t at, size_t c, size_t have) {
  const D d;
  const int64_t kernel = kKernel == 0 ? g.kernel : kKernel;
  const int64_t stride = kStride == 0 ? g.stride : kStride;
  const int64_t x0 = at * stride - g.pad;
  const auto in_stride = static_cast<std::ptrdiff_t>(g.in_stride);
  const std::ptrdiff_t tap_step = g.dilation * in_stride;
  const std::ptrdiff_t out_step = stride * in_stride;
  V acc[T][W];
  for (size_t t = 0; t < T; ++t)
    for (size_t v = 0; v < W; ++v) acc[t][v] = hn::Zero(d);
  const float* HWY_RESTRICT filter = g.filter + c;
  for (size_t r = 0; r < g.row_count; ++r) {
    const float* row = g.rows[r];
    if (row == nullptr) {
      filter += static_cast<size_t>(kernel) * g.filter_stride;
      continue;
    }
    std::ptrdiff_t x = x0 * in_stride + static_cast<std::ptrdiff_t>(c);
    for (int64_t k = 0; k < kernel; ++k, filter += g.filter_stride, x += tap_step) {
      if constexpr (!kInner) {
        const int64_t position = x0 + k * g.dilation;
        if (position < 0 || position >= g.input_width) continue;
      }
      V w[W];
      for (size_t v = 0; v < W; ++v) w[v] = hn::Load(d, filter + v * kLanes);
      for (size_t t = 0; t < T; ++t)
        for (size_t v = 0; v < W; ++v)
          acc[t][v] =
              M::Fma(LoadChannels<kPartial>(row + x + static_cast<std::ptrdiff_t>(t) * out_step +
                                                static_cast<std::ptrdiff_t>(v * kLanes),
                                            have),
                     w[v], acc[t][v]);
    }
  }
  const EpilogueF32& e = g.epilogue;
  const V low = hn::Set(d, e.min);
  const V high = hn::Set(d, e.max);
  for (size_t v = 0; v < W; ++v) {
    const size_t channel = c + v * kLanes;
    const V bias = e.bias == nullptr ? hn::Zero(d) : LoadChannels<kPartial>(e.bias + channel, have);
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

// An output some of whose taps may be outside.
template <size_t W, bool kPartial>
HWY_NOINLINE void EdgeOutput(const DepthwiseRowF32& g, int64_t at, size_t c, size_t have) {
  Outputs<1, W, 0, 0, false, kPartial>(g, at, c, have);
}

// The whole row for W vectors of channels.
template <size_t W, int kKernel, int kStride, bool kPartial>
HWY_INLINE void Walk(const DepthwiseRowF32& g, size_t c, size_t have) {
  constexpr int64_t kT = kOutputs<W>;
  const int64_t end = g.first + g.count;
  // Outputs whose taps are all inside: 0 <= x0 and x0 + (kernel - 1) * dilation < input_width.
  const int64_t inner_first = (g.pad + g.stride - 1) / g.stride;
  const int64_t last_start = g.input_width - 1 - (g.kernel - 1) * g.dilation + g.pad;
  const int64_t inner_end = last_start < 0 ? 0 : last_start / g.stride + 1;
  int64_t at = g.first;
  for (; at < std::min(end, std::max(inner_first, g.first)); ++at)
    EdgeOutput<W, kPartial>(g, at, c, have);
  for (; at + kT <= std::min(end, inner_end); at += kT)
    Outputs<static_cast<size_t>(kT), W, kKernel, kStride, true, kPartial>(g, at, c, have);
  for (; at < std::min(end, inner_end); ++at)
    Outputs<1, W, kKernel, kStride, true, kPartial>(g, at, c, have);
  for (; at < end; ++at) EdgeOutput<W, kPartial>(g, at, c, have);
}

// The same for the last channels, fewer than a vector has.
HWY_NOINLINE void WalkLast(const DepthwiseRowF32& g, size_t c, size_t have) {
  Walk<1, 0, 0, true>(g, c, have);
}

template <int kKernel, int kStride>
HWY_NOINLINE void Channels(const DepthwiseRowF32& g) {
  for (size_t block = 0; block < g.channels; block += kChannelBlock) {
    const size_t end = std::min(g.channels, block + kChannelBlock);
    size_t c = block;
    for (; c + 2 * kLanes <= end; c += 2 * kLanes) Walk<2, kKernel, kStride, false>(g, c, kLanes);
    for (; c + kLanes <= end; c += kLanes) Walk<1, kKernel, kStride, false>(g, c, kLanes);
    if (c < end) WalkLast(g, c, end - c);
  }
}

void DepthwiseRow(const DepthwiseRowF32& g) {
#if HWY_NATIVE_FMA
  if (g.kernel == 3 && g.stride == 1) return Channels<3, 1>(g);
  if (g.kernel == 3 && g.stride == 2) return Channels<3, 2>(g);
  if (g.kernel == 5 && g.stride == 1) return Channels<5, 1>(g);
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
