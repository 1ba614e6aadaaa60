// Square kernels compute two lines of outputs at a time, so that each loaded input is used by the
// taps of both lines, and seven outputs of a line at a time if the line length is a multiple of
// seven. All channels of a block are computed at one position before the next position: computing
// one channel vector along a whole line uses only a small part of each memory page per pass, which
// causes TLB misses.
#include "exec/kernels/window/depthwise_f32.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/window/depthwise_f32.cc"
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

// The number of adjacent outputs computed at a time, so that the sums of two lines, the filter
// values and an input fit into registers. Without fused multiply-adds the emulation keeps the
// registers busy.
constexpr size_t kMaxOutputs = !HWY_NATIVE_FMA                              ? 1
                               : HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 8
                                                                            : 4;

// The number of channels processed for all lines of a block: their input stays in the L1 cache from
// one line to the next.
constexpr size_t kChannelBlock = 64;

// A vector of channels, or fewer at the end.
template <bool kPartial>
HWY_INLINE V LoadChannels(const float* p, size_t have) {
  return LoadSome(D(), p, kPartial ? have : kLanes);
}
template <bool kPartial>
HWY_INLINE void StoreChannels(V v, float* p, size_t have) {
  StoreSome(v, D(), p, kPartial ? have : kLanes);
}

// Calls take(i, inputs) for each channel i of a group, in order: each lane holds that channel of
// the lane's group. `from` points to the vector's channels at one position of the input, `c` is the
// number of the first one.
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
      // Blocks of four lanes, two per group.
      take_four(0, V{_mm512_shuffle_f32x4(channels.raw, channels.raw, _MM_PERM_CCAA)});
      take_four(4, V{_mm512_shuffle_f32x4(channels.raw, channels.raw, _MM_PERM_DDBB)});
#endif
    }
#endif
  }
}

// How the sums of T adjacent outputs of kLines lines, one vector of channels, are computed:
//
//   AddRows<T, kInner>(g, line, x0, c, have, sums)
//
// adds all taps. The first tap of the first output of `line` is at position x0 of the input; the
// channels are [c, c + have). Inner: all taps along the line are inside.

// Square kernels and strides known at compile time: an input is loaded once for all outputs that
// use it. Every output has a tap along the line that is inside.
template <size_t kLineCount, size_t kKernel, size_t kStride>
struct SquareFilter {
  static constexpr size_t kLines = kLineCount;
  static constexpr bool kSevens = kMaxOutputs == 8;

  template <size_t T, bool kInner>
  static HWY_INLINE void AddRows(const DepthwiseF32& g, size_t line, int64_t x0, size_t c, size_t,
                                 V (&sums)[kLines][T]) {
    const float* const* rows = g.rows + line * g.line_step;
    const float* filter = g.filter + c;
    if constexpr (kLines == 1) {
      for (size_t r = 0; r < g.row_count; ++r, filter += kKernel * g.filter_stride)
        if (rows[r] != nullptr) AddRow<T, kInner, 0, 1>(g, rows[r] + c, filter, x0, sums);
    } else {
      ForEachNumber<(kLines - 1) * kStride + kKernel>([&](auto number) HWY_ATTR {
        constexpr size_t r = decltype(number)::value;
        // Of the lines with this row in their windows, the last one uses it as its first row.
        constexpr size_t kFirst = r < kKernel ? 0 : (r - kKernel) / kStride + 1;
        constexpr size_t kLast = std::min(kLines, r / kStride + 1);
        if (rows[r] != nullptr)
          AddRow<T, kInner, kFirst, kLast>(
              g, rows[r] + c, filter + (r - kFirst * kStride) * kKernel * g.filter_stride, x0,
              sums);
      });
    }
  }

 private:
  // One row of the input for lines [kFirst, kLast): `filter` is the kernel row that applies in the
  // first of them; each next line uses the row kStride rows before.
  template <size_t T, bool kInner, size_t kFirst, size_t kLast>
  static HWY_INLINE void AddRow(const DepthwiseF32& g, const float* HWY_RESTRICT row,
                                const float* HWY_RESTRICT filter, int64_t x0,
                                V (&sums)[kLines][T]) {
    const D d;
    V w[kLines][kKernel];
    NN_UNROLL
    for (size_t l = kFirst; l < kLast; ++l) {
      NN_UNROLL
      for (size_t k = 0; k < kKernel; ++k)
        w[l][k] = hn::LoadU(
            d, filter - (l - kFirst) * kStride * kKernel * g.filter_stride + k * g.filter_stride);
    }
    const float* from = row + x0 * static_cast<std::ptrdiff_t>(g.in_stride);
    ForEachNumber<(T - 1) * kStride + kKernel>([&](auto number) HWY_ATTR {
      constexpr size_t j = decltype(number)::value;
      if constexpr (!kInner && (j + 1 < kKernel || j > (T - 1) * kStride)) {
        const int64_t x = x0 + static_cast<int64_t>(j);
        if (x < 0 || x >= g.input_width) return;
      }
      const V x = hn::LoadU(d, from + j * g.in_stride);
      NN_UNROLL
      for (size_t l = kFirst; l < kLast; ++l) {
        NN_UNROLL
        for (size_t t = 0; t < T; ++t) {
          if (j < t * kStride || j >= t * kStride + kKernel) continue;
          sums[l][t] = M::Fma(x, w[l][j - t * kStride], sums[l][t]);
        }
      }
    });
  }
};

// Any kernel, stride and dilation.
template <bool kPartial>
struct AnyFilter {
  static constexpr size_t kLines = 1;
  static constexpr bool kSevens = false;

  template <size_t T, bool kInner>
  static HWY_INLINE void AddRows(const DepthwiseF32& g, size_t line, int64_t x0, size_t c,
                                 size_t have, V (&sums)[1][T]) {
    const D d;
    const float* filter = g.filter + c;
    for (size_t r = 0; r < g.row_count; ++r)
      for (int64_t k = 0; k < g.kernel; ++k, filter += g.filter_stride) {
        const float* row = g.rows[line * g.line_step + r];
        if (row == nullptr) continue;
        const V w = hn::LoadU(d, filter);
        NN_UNROLL
        for (size_t t = 0; t < T; ++t) {
          const int64_t x = x0 + static_cast<int64_t>(t) * g.stride + k * g.dilation;
          if (!kInner && (x < 0 || x >= g.input_width)) continue;
          const float* from = row + c + x * static_cast<std::ptrdiff_t>(g.in_stride);
          sums[0][t] = M::Fma(LoadChannels<kPartial>(from, have), w, sums[0][t]);
        }
      }
  }
};

// Groups of several channels with a kernel of three along the line.
template <size_t kGroup, size_t kStride>
struct GroupFilter {
  static constexpr size_t kLines = 1;
  static constexpr bool kSevens = false;
  static constexpr size_t kKernel = 3;

  template <size_t T, bool kInner>
  static HWY_INLINE void AddRows(const DepthwiseF32& g, size_t line, int64_t x0, size_t c, size_t,
                                 V (&sums)[1][T]) {
    const float* filter = g.filter + c;
    for (size_t r = 0; r < g.row_count; ++r, filter += kKernel * kGroup * g.filter_stride) {
      const float* row = g.rows[line * g.line_step + r];
      if (row != nullptr) AddRow<T, kInner>(g, row + c, filter, x0, c, sums);
    }
  }

 private:
  template <size_t T, bool kInner>
  static HWY_INLINE void AddRow(const DepthwiseF32& g, const float* HWY_RESTRICT row,
                                const float* HWY_RESTRICT filter, int64_t x0, size_t c,
                                V (&sums)[1][T]) {
    const D d;
    ForEachNumber<(T - 1) * kStride + kKernel>([&](auto number) HWY_ATTR {
      constexpr size_t j = decltype(number)::value;
      const int64_t x = x0 + static_cast<int64_t>(j);
      if (!kInner && (x < 0 || x >= g.input_width)) return;
      // The taps of an output are in order, and so are the channels of a tap.
      const float* from = row + x * static_cast<std::ptrdiff_t>(g.in_stride);
      ForEachInput<kGroup>(from, c, [&](size_t i, V channel) HWY_ATTR {
        NN_UNROLL
        for (size_t t = 0; t < T; ++t) {
          if (j < t * kStride || j >= t * kStride + kKernel) continue;
          const size_t tap = j - t * kStride;
          const V w = hn::LoadU(d, filter + (tap * kGroup + i) * g.filter_stride);
          sums[0][t] = M::Fma(channel, w, sums[0][t]);
        }
      });
    });
  }
};

// T adjacent outputs of the lines that are computed together.
template <class Filter, size_t T, bool kInner, bool kPartial>
HWY_NOINLINE void Outputs(const DepthwiseF32& g, size_t line, int64_t at, size_t c, size_t have) {
  const D d;
  V sums[Filter::kLines][T];
  NN_UNROLL
  for (size_t l = 0; l < Filter::kLines; ++l) {
    NN_UNROLL
    for (size_t t = 0; t < T; ++t) sums[l][t] = hn::Zero(d);
  }
  Filter::template AddRows<T, kInner>(g, line, at * g.stride - g.pad, c, have, sums);
  const EpilogueF32& e = g.epilogue;
  const V low = hn::Set(d, e.min);
  const V high = hn::Set(d, e.max);
  const V bias = e.bias == nullptr ? hn::Zero(d) : LoadChannels<kPartial>(e.bias + c, have);
  NN_UNROLL
  for (size_t l = 0; l < Filter::kLines; ++l) {
    const size_t output = (line + l) * g.line_pitch + static_cast<size_t>(at - g.first);
    float* to = g.out + output * g.out_stride + c;
    NN_UNROLL
    for (size_t t = 0; t < T; ++t) {
      V y = hn::Add(sums[l][t], bias);
      if (e.scale != nullptr)
        y = hn::Add(hn::Mul(y, LoadChannels<kPartial>(e.scale + c, have)),
                    LoadChannels<kPartial>(e.shift + c, have));
      if (e.residual != nullptr)
        y = hn::Add(
            y, LoadChannels<kPartial>(e.residual + (output + t) * e.residual_stride + c, have));
      if (e.bounded()) y = M::Min(high, M::Max(low, y));
      StoreChannels<kPartial>(y, to + t * g.out_stride, have);
    }
  }
}

// Whole lines, starting at `line`, for channels [begin, end).
template <class Filter, bool kPartial = false>
HWY_INLINE void Walk(const DepthwiseF32& g, size_t line, size_t begin, size_t end) {
  // Outputs whose taps, x0 to x0 + reach, are all inside.
  const int64_t reach = (g.kernel - 1) * g.dilation;
  const int64_t inner_first = (g.pad - std::min<int64_t>(0, reach) + g.stride - 1) / g.stride;
  const int64_t last_start = g.input_width - 1 - std::max<int64_t>(0, reach) + g.pad;
  const int64_t inner_end = last_start < 0 ? 0 : last_start / g.stride + 1;
  const int64_t last = g.first + g.count;
  int64_t at = g.first;
  const auto block = [&](auto number) {
    constexpr size_t T = decltype(number)::value;
    const auto outputs = at >= inner_first && at + static_cast<int64_t>(T) <= inner_end
                             ? &Outputs<Filter, T, true, kPartial>
                             : &Outputs<Filter, T, false, kPartial>;
    if constexpr (kPartial) {
      outputs(g, line, at, begin, end - begin);
    } else {
      size_t c = begin;
      for (; c + kLanes <= end; c += kLanes) outputs(g, line, at, c, kLanes);
      // The last vector overlaps the one before: channels are computed twice to the same bits.
      if (c < end) outputs(g, line, at, end - kLanes, kLanes);
    }
    at += T;
  };
  const auto left = [&] { return last - at; };
  // Typical image sizes are multiples of seven.
  if constexpr (Filter::kSevens)
    if (g.count % 7 == 0)
      while (left() > 0) block(std::integral_constant<size_t, 7>());
  while (left() >= static_cast<int64_t>(kMaxOutputs))
    block(std::integral_constant<size_t, kMaxOutputs>());
  if constexpr (kMaxOutputs > 4)
    if (left() >= 4) block(std::integral_constant<size_t, 4>());
  if constexpr (kMaxOutputs > 2)
    if (left() >= 2) block(std::integral_constant<size_t, 2>());
  if constexpr (kMaxOutputs > 1)
    if (left() > 0) block(std::integral_constant<size_t, 1>());
}

// All lines, as many at a time as the filter supports, and all channels.
template <class Filter, class Single = Filter>
HWY_NOINLINE void Lines(const DepthwiseF32& g) {
  for (size_t begin = 0; begin < g.channels; begin += kChannelBlock) {
    const size_t end = std::min(g.channels, begin + kChannelBlock);
    size_t line = 0;
    for (; line + Filter::kLines <= g.lines; line += Filter::kLines)
      Walk<Filter>(g, line, begin, end);
    for (; line < g.lines; ++line) Walk<Single>(g, line, begin, end);
  }
}

template <size_t kKernel, size_t kStride>
bool RunSquare(const DepthwiseF32& g) {
  const auto kernel = static_cast<int64_t>(kKernel);
  const auto stride = static_cast<int64_t>(kStride);
  if (g.kernel != kernel || g.stride != stride || g.pad >= kernel ||
      (g.first + g.count - 1) * stride - g.pad >= g.input_width)
    return false;
  using Single = SquareFilter<1, kKernel, kStride>;
  if (g.row_count == kKernel && g.line_step == kStride)
    Lines<SquareFilter<2, kKernel, kStride>, Single>(g);
  else
    Lines<Single>(g);
  return true;
}

void Depthwise(const DepthwiseF32& g) {
  if (g.group == 4)
    return g.stride == 1 ? Lines<GroupFilter<4, 1>>(g) : Lines<GroupFilter<4, 2>>(g);
  if (g.group == 8)
    return g.stride == 1 ? Lines<GroupFilter<8, 1>>(g) : Lines<GroupFilter<8, 2>>(g);
  if (g.channels < kLanes) {
    for (size_t line = 0; line < g.lines; ++line)
      Walk<AnyFilter<true>, true>(g, line, 0, g.channels);
    return;
  }
#if HWY_NATIVE_FMA
  if (g.dilation == 1 &&
      (RunSquare<3, 1>(g) || RunSquare<3, 2>(g) || RunSquare<5, 1>(g) || RunSquare<5, 2>(g)))
    return;
#endif
  Lines<AnyFilter<false>>(g);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nn {

HWY_EXPORT(Depthwise);

void RunDepthwiseF32(const DepthwiseF32& lines) {
  HWY_DYNAMIC_DISPATCH(Depthwise)(lines);
}

}  // namespace nn
#endif  // HWY_ONCE
