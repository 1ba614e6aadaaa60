#include "ops/nn/conv_eval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/arith.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"
#include "ops/support/index.h"
#include "ops/support/reals.h"

namespace nn {
namespace {

// Visits every output position of every batch and group with its taps in kernel order:
// fn(taps, group, x offset, y offset).
template <typename Fn>
void ForEachPosition(const ConvProblem& p, Fn fn) {
  for (const int64_t size : p.y_size)
    if (size == 0) return;
  if (p.batch == 0 || p.out_channels == 0) return;
  std::vector<ConvTap> taps;
  std::vector<int64_t> position(p.y_size.size(), 0);
  do {
    taps.clear();
    // Without channels, the number of taps is not bounded by memory.
    if (p.in_channels > 0) p.taps(position, taps);
    int64_t y = 0;
    for (size_t i = 0; i < position.size(); ++i) y += position[i] * p.y_spatial[i];
    for (int64_t n = 0; n < p.batch; ++n)
      for (int64_t group = 0; group < p.groups; ++group)
        fn(taps, group, n * p.x_batch + group * p.in_channels * p.x_channel,
           n * p.y_batch + group * p.out_channels * p.y_channel + y);
  } while (NextIndex(position, p.y_size));
}

// Accumulates kLanes adjacent output channels at once; each has its own sum, in contract order.
template <size_t kLanes, typename T>
std::array<T, kLanes> DotProducts(const ConvProblem& p, const std::vector<ConvTap>& taps,
                                  const T* x, const T* w, bool skip_padding) {
  std::array<T, kLanes> acc{};
  for (const ConvTap& tap : taps) {
    if (tap.padded && skip_padding) continue;
    for (int64_t c = 0; c < p.in_channels; ++c) {
      const T xv = tap.padded ? T(0) : x[tap.x + c * p.x_channel];
      const T* weights = w + tap.w + c * p.w_in;
      for (size_t j = 0; j < kLanes; ++j)
        acc[j] = Fma(xv, weights[static_cast<int64_t>(j) * p.w_out], acc[j]);
    }
  }
  return acc;
}

template <typename T>
void Convolve(const ConvProblem& p, const T* x, const T* w, const T* bias, bool finite_filter,
              T* y) {
  constexpr int64_t kLanes = 4;
  ForEachPosition(p, [&](const std::vector<ConvTap>& taps, int64_t group, int64_t x0, int64_t y0) {
    const T* group_bias = bias == nullptr ? nullptr : bias + group * p.out_channels;
    const auto put = [&](int64_t c, T sum) {
      y[y0 + c * p.y_channel] = sum + (bias == nullptr ? T(0) : group_bias[c]);
    };
    const T* weights = w + group * p.w_group;
    int64_t c = 0;
    for (; c + kLanes <= p.out_channels; c += kLanes) {
      const auto sums = DotProducts<kLanes>(p, taps, x + x0, weights + c * p.w_out, finite_filter);
      for (int64_t j = 0; j < kLanes; ++j) put(c + j, sums[static_cast<size_t>(j)]);
    }
    for (; c < p.out_channels; ++c)
      put(c, DotProducts<1>(p, taps, x + x0, weights + c * p.w_out, finite_filter)[0]);
  });
}

template <typename T>
Status EvalReals(EvalContext& ctx, const ConvProblem& p) {
  NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
  const Reals<T> x(ctx.in(0));
  const Reals<T> w(ctx.in(1));
  std::optional<Reals<T>> bias;
  if (ctx.has(2)) bias.emplace(ctx.in(2));
  const auto weights = w.span();
  const bool finite =
      std::all_of(weights.begin(), weights.end(), [](T v) { return std::isfinite(v); });
  Convolve(p, x.data(), w.data(), bias ? bias->data() : nullptr, finite, y.data());
  y.Finish();
  return {};
}

// Integer convolution of TensorFlow Lite's reference kernels. A 16-bit input accumulates in 64
// bits.
//
// Source: tflite/kernels/internal/reference/{conv,depthwiseconv_uint8,transpose_conv}.h and
// integer_ops/{conv,depthwise_conv,transpose_conv}.h.
template <typename TX, typename TW>
Status EvalTflite(EvalContext& ctx, const ConvProblem& p, const Tensor& filter) {
  if (!ctx.out_type().quantized()) return ModelError("the output is not quantized");
  const Quant& xq = *ctx.in_type(0).quant;
  const Quant& wq = *ctx.in_type(1).quant;
  const Quant& yq = *ctx.out_type().quant;
  const auto channels = static_cast<size_t>(p.groups * p.out_channels);
  if (wq.scales.size() != 1 && wq.scales.size() != channels)
    return ModelError("the filter has {} scales for {} output channels", wq.scales.size(),
                      channels);
  // The accumulators of 16-bit inputs have 64 bits, unless the bias has 32.
  const bool wide = sizeof(TX) == 2 && !(ctx.has(2) && ctx.in(2).dtype() == DType::kI32);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const TX* x = ctx.in(0).As<TX>().data();
  const TW* w = filter.As<TW>().data();
  TX* y = out.As<TX>().data();
  std::vector<FixedMultiplier> multipliers;
  for (size_t c = 0; c < channels; ++c)
    multipliers.push_back(ProductMultiplier(kDTypeOf<TX>, xq, wq, c, yq));
  const int64_t x_zero = xq.zero_point();
  const int64_t y_zero = yq.zero_point();
  ForEachPosition(p, [&](const std::vector<ConvTap>& taps, int64_t group, int64_t x0, int64_t y0) {
    for (int64_t c = 0; c < p.out_channels; ++c) {
      const int64_t channel = group * p.out_channels + c;
      const int64_t w_zero = wq.zero_point(static_cast<size_t>(channel));
      const TW* weights = w + group * p.w_group + c * p.w_out;
      int64_t acc = ctx.has(2) ? ctx.in(2).GetInt(channel) : 0;
      for (const ConvTap& tap : taps) {
        if (tap.padded) continue;
        for (int64_t i = 0; i < p.in_channels; ++i)
          acc +=
              (x[x0 + tap.x + i * p.x_channel] - x_zero) * (weights[tap.w + i * p.w_in] - w_zero);
      }
      const FixedMultiplier m = multipliers[static_cast<size_t>(channel)];
      const int64_t scaled = wide ? Rescale64(acc, m) : Rescale(static_cast<int32_t>(acc), m);
      y[y0 + c * p.y_channel] = static_cast<TX>(std::clamp<int64_t>(
          scaled + y_zero, std::numeric_limits<TX>::min(), std::numeric_limits<TX>::max()));
    }
  });
  ctx.set_out(0, out.Finish());
  return {};
}

// conv_integer.
template <typename TX, typename TW>
Status EvalIntegers(EvalContext& ctx, const ConvProblem& p) {
  const int64_t channels = p.groups * p.out_channels;
  std::vector<int64_t> zeros(static_cast<size_t>(channels), 0);
  if (ctx.has(3)) {
    const Tensor& z = ctx.in(3);
    if (z.elements() != 1 && z.elements() != channels)
      return ModelError("the filter has {} zero points for {} output channels", z.elements(),
                        channels);
    for (size_t c = 0; c < zeros.size(); ++c)
      zeros[c] = z.GetInt(z.elements() == 1 ? 0 : static_cast<int64_t>(c));
  }
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const TX* x = ctx.in(0).As<TX>().data();
  const TW* w = ctx.in(1).As<TW>().data();
  int32_t* y = out.As<int32_t>().data();
  const int64_t x_zero = ctx.has(2) ? ctx.in(2).GetInt(0) : 0;
  ForEachPosition(p, [&](const std::vector<ConvTap>& taps, int64_t group, int64_t x0, int64_t y0) {
    for (int64_t c = 0; c < p.out_channels; ++c) {
      const int64_t channel = group * p.out_channels + c;
      const int64_t w_zero = zeros[static_cast<size_t>(channel)];
      const TW* weights = w + group * p.w_group + c * p.w_out;
      int64_t acc = ctx.has(4) ? ctx.in(4).GetInt(channel) : 0;
      for (const ConvTap& tap : taps) {
        if (tap.padded) continue;
        for (int64_t i = 0; i < p.in_channels; ++i)
          acc +=
              (x[x0 + tap.x + i * p.x_channel] - x_zero) * (weights[tap.w + i * p.w_in] - w_zero);
      }
      y[y0 + c * p.y_channel] = static_cast<int32_t>(acc);
    }
  });
  ctx.set_out(0, out.Finish());
  return {};
}

}  // namespace

ConvProblem ConvOperands(Layout layout, FilterLayout filter_layout, const ConvGeometry& g,
                         const std::vector<int64_t>& x, const std::vector<int64_t>& w,
                         const std::vector<int64_t>& y) {
  const int rank = static_cast<int>(x.size());
  const auto channel = static_cast<size_t>(ChannelAxis(layout, rank));
  const FilterAxes filter = AxesOf(filter_layout, rank);
  const auto xs = Strides(x);
  const auto ws = Strides(w);
  const auto ys = Strides(y);
  ConvProblem p{};
  p.batch = g.batch;
  p.groups = g.groups;
  p.in_channels = g.in_channels;
  p.out_channels = g.out_channels;
  p.x_batch = xs[0];
  p.x_channel = xs[channel];
  p.w_out = ws[static_cast<size_t>(filter.output)];
  p.w_in = ws[static_cast<size_t>(filter.input)];
  p.y_batch = ys[0];
  p.y_channel = ys[channel];
  for (size_t i = 0; i < g.windows.size(); ++i) {
    const size_t axis = static_cast<size_t>(FirstSpatialAxis(layout)) + i;
    p.y_size.push_back(y[axis]);
    p.kernel.push_back(g.windows[i].kernel);
    p.x_spatial.push_back(xs[axis]);
    p.w_spatial.push_back(ws[static_cast<size_t>(filter.spatial) + i]);
    p.y_spatial.push_back(ys[axis]);
  }
  return p;
}

Status CheckFilterQuant(const Type& filter, const FilterAxes& axes) {
  if (!filter.quantized() || !filter.quant->per_axis() || filter.quant->axis == axes.output)
    return {};
  return UnsupportedError(
      "per-channel quantization of the filter along axis {}, which is not its output channel axis",
      filter.quant->axis);
}

Status EvalIntegerConvolution(EvalContext& ctx, const ConvProblem& p) {
  const bool is_unsigned = ctx.in(1).dtype() == DType::kU8;
  if (ctx.in(0).dtype() == DType::kU8)
    return is_unsigned ? EvalIntegers<uint8_t, uint8_t>(ctx, p)
                       : EvalIntegers<uint8_t, int8_t>(ctx, p);
  return is_unsigned ? EvalIntegers<int8_t, uint8_t>(ctx, p) : EvalIntegers<int8_t, int8_t>(ctx, p);
}

Status EvalConvolution(EvalContext& ctx, const ConvProblem& p) {
  const DType x = ctx.in(0).dtype();
  const DType w = ctx.in(1).dtype();
  if (ctx.in_type(0).quantized()) {
    const Tensor filter = InBytes(ctx.in(1));
    const bool is_signed = filter.dtype() == DType::kI8;
    if (x == DType::kU8 && w == DType::kU8) return EvalTflite<uint8_t, uint8_t>(ctx, p, filter);
    if (x == DType::kI8 && is_signed) return EvalTflite<int8_t, int8_t>(ctx, p, filter);
    if (x == DType::kI16 && is_signed) return EvalTflite<int16_t, int8_t>(ctx, p, filter);
    return UnsupportedError("quantized {} by {} is not supported", DTypeName(x), DTypeName(w));
  }
  return WithReals(x, [&](auto zero) { return EvalReals<decltype(zero)>(ctx, p); });
}

}  // namespace nn
