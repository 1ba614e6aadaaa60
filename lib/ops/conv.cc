#include "ops/conv.h"

#include <array>
#include <cmath>

#include "base/arith.h"
#include "base/checked_math.h"
#include "base/half.h"
#include "ir/op_def.h"
#include "ops/ops.h"
#include "ops/requant.h"
#include "ops/types.h"

namespace nn {

std::span<const AttrField> ConvAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&ConvAttrs::layout>("layout"),
      Field<&ConvAttrs::filter_layout>("filter_layout"),
      Field<&ConvAttrs::strides>("strides"),
      Field<&ConvAttrs::dilations>("dilations"),
      Field<&ConvAttrs::pads>("pads"),
      Field<&ConvAttrs::padding>("padding"),
      Field<&ConvAttrs::groups>("groups"),
  };
  return fields;
}

FilterAxes AxesOf(FilterLayout layout, int rank) {
  switch (layout) {
    case FilterLayout::kOix: return {0, 1, 2};
    case FilterLayout::kOxi: return {0, rank - 1, 1};
    case FilterLayout::kIxo: return {rank - 1, 0, 1};
    case FilterLayout::kXio: return {rank - 1, rank - 2, 0};
  }
  return {0, 1, 2};
}

AxisMap FilterMap(FilterLayout from, FilterLayout to, int rank) {
  const FilterAxes a = AxesOf(from, rank);
  const FilterAxes b = AxesOf(to, rank);
  std::vector<int> source(static_cast<size_t>(rank));
  source[static_cast<size_t>(b.output)] = a.output;
  source[static_cast<size_t>(b.input)] = a.input;
  for (int i = 0; i < rank - 2; ++i) source[static_cast<size_t>(b.spatial + i)] = a.spatial + i;
  return AxisMap(rank, std::move(source));
}

int64_t ConvGeometry::taps() const {
  int64_t n = 1;
  for (const ConstWindow& w : windows) n *= w.kernel;
  return n;
}

int64_t ConvGeometry::out_positions() const {
  int64_t n = 1;
  for (const ConstWindow& w : windows) n *= w.output;
  return n;
}

Result<std::vector<Window>> ConvWindows(const ConvAttrs& attrs, const Dims& input,
                                        const Dims& filter) {
  const int rank = static_cast<int>(filter.size());
  const FilterAxes axes = AxesOf(attrs.filter_layout, rank);
  WindowSpec spec;
  for (int i = 0; i < rank - 2; ++i) {
    const Dim& k = filter[static_cast<size_t>(axes.spatial + i)];
    if (!k.is_const()) return UnsupportedError("the filter's kernel size {} is not known", k.ToString());
    spec.kernel.push_back(k.value());
  }
  spec.strides = attrs.strides;
  spec.dilations = attrs.dilations;
  spec.pads = attrs.pads;
  spec.padding = attrs.padding;
  return ResolveWindows(spec, SpatialDims(input, attrs.layout));
}

Result<ConvGeometry> GeometryOf(const ConvAttrs& attrs, const std::vector<int64_t>& input,
                                const std::vector<int64_t>& filter) {
  NN_ASSIGN(const auto windows, ConvWindows(attrs, ToDims(input), ToDims(filter)));
  const int rank = static_cast<int>(input.size());
  const FilterAxes axes = AxesOf(attrs.filter_layout, rank);
  ConvGeometry g;
  g.batch = input[0];
  g.groups = attrs.groups;
  g.in_channels = input[static_cast<size_t>(ChannelAxis(attrs.layout, rank))] / attrs.groups;
  g.out_channels = filter[static_cast<size_t>(axes.output)] / attrs.groups;
  NN_ASSIGN(g.windows, ConstWindows(windows));
  return g;
}

namespace {

Status InferConv(InferContext& ctx) {
  const auto& a = ctx.attrs<ConvAttrs>();
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  NN_RETURN_IF_ERROR(RequireRank(ctx, 1, ctx.in(0).rank(), ctx.in(0).rank()));
  const Type& x = ctx.in(0);
  const Type& w = ctx.in(1);
  const int rank = x.rank();
  if (!x.quantised()) {
    NN_RETURN_IF_ERROR(SameDType(ctx, {0, 1, 2}));
  } else if (!w.quantised()) {
    return ModelError("the input is quantised, the filter is not");
  }
  if (a.groups < 1) return ModelError("groups is {}", a.groups);
  const FilterAxes axes = AxesOf(a.filter_layout, rank);
  const Dim& in_channels = x.dim(ChannelAxis(a.layout, rank));
  const Dim& out_channels = w.dim(axes.output);
  const Dim expected = w.dim(axes.input) * Dim(a.groups);
  if (in_channels.is_const() && expected.is_const() && in_channels != expected)
    return ModelError("{} input channels, but the filter {} with {} group(s) takes {}",
                      in_channels.ToString(), w.ToString(), a.groups, expected.ToString());
  if (out_channels.is_const() && out_channels.value() % a.groups != 0)
    return ModelError("{} output channels do not divide into {} groups", out_channels.ToString(),
                      a.groups);
  if (ctx.has(2)) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, 2, 1, 1));
    const Dim& n = ctx.in(2).dim(0);
    if (n.is_const() && out_channels.is_const() && n != out_channels)
      return ModelError("bias has {} elements for {} output channels", n.ToString(),
                        out_channels.ToString());
  }
  NN_ASSIGN(const auto windows, ConvWindows(a, *x.dims, *w.dims));
  Dims out(static_cast<size_t>(rank));
  out[0] = x.dim(0);
  out[static_cast<size_t>(ChannelAxis(a.layout, rank))] = out_channels;
  for (size_t i = 0; i < windows.size(); ++i)
    out[static_cast<size_t>(FirstSpatialAxis(a.layout)) + i] = windows[i].output;
  ctx.set_out(0, Type(x.dtype, std::move(out)));
  return {};
}

// Element offsets of a convolution's tensors, for any layout.
struct Offsets {
  int64_t x_batch, x_channel;
  int64_t w_out, w_in;
  int64_t y_batch, y_channel;
  std::vector<int64_t> x_spatial, w_spatial, y_spatial;
};

Offsets OffsetsOf(const ConvAttrs& a, const std::vector<int64_t>& x, const std::vector<int64_t>& w,
                  const std::vector<int64_t>& y) {
  const int rank = static_cast<int>(x.size());
  const auto xs = Strides(x);
  const auto ws = Strides(w);
  const auto ys = Strides(y);
  const FilterAxes axes = AxesOf(a.filter_layout, rank);
  const auto at = [](const std::vector<int64_t>& v, int i) { return v[static_cast<size_t>(i)]; };
  const int channel = ChannelAxis(a.layout, rank);
  Offsets o{xs[0], at(xs, channel), at(ws, axes.output), at(ws, axes.input),
            ys[0], at(ys, channel), {}, {}, {}};
  for (int i = 0; i < rank - 2; ++i) {
    o.x_spatial.push_back(at(xs, FirstSpatialAxis(a.layout) + i));
    o.w_spatial.push_back(at(ws, axes.spatial + i));
    o.y_spatial.push_back(at(ys, FirstSpatialAxis(a.layout) + i));
  }
  return o;
}

// Steps a multi-index through a box in row-major order; false after the last.
bool Next(std::vector<int64_t>& index, const std::vector<int64_t>& size) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < size[i]) return true;
    index[i] = 0;
  }
  return false;
}

// A kernel position at one output position: where it reads, or that it falls into padding.
struct Tap {
  int64_t x;
  int64_t w;
  bool padded;
};

// Visits every output position of every batch and group with its taps in kernel order.
template <typename Fn>
void ForEachPosition(const ConvGeometry& g, const Offsets& o, Fn fn) {
  const size_t rank = g.windows.size();
  std::vector<int64_t> out_size, kernel_size;
  for (const ConstWindow& w : g.windows) {
    out_size.push_back(w.output);
    kernel_size.push_back(w.kernel);
  }
  if (g.out_positions() == 0) return;
  std::vector<Tap> taps;
  std::vector<int64_t> p(rank, 0);
  do {
    taps.clear();
    int64_t y = 0;
    for (size_t i = 0; i < rank; ++i) y += p[i] * o.y_spatial[i];
    std::vector<int64_t> k(rank, 0);
    do {
      Tap tap{0, 0, false};
      for (size_t i = 0; i < rank; ++i) {
        const ConstWindow& w = g.windows[i];
        const int64_t at = p[i] * w.stride + k[i] * w.dilation - w.pad_begin;
        tap.padded |= at < 0 || at >= w.input;
        tap.x += at * o.x_spatial[i];
        tap.w += k[i] * o.w_spatial[i];
      }
      taps.push_back(tap);
    } while (Next(k, kernel_size));
    for (int64_t n = 0; n < g.batch; ++n)
      for (int64_t group = 0; group < g.groups; ++group)
        fn(taps, n * o.x_batch + group * g.in_channels * o.x_channel, group * g.out_channels,
           n * o.y_batch + y);
  } while (Next(p, out_size));
}

// Accumulates kLanes neighbouring output channels at once; each has its own sum, in contract order.
template <size_t kLanes, typename Acc, typename T>
std::array<Acc, kLanes> DotProducts(const std::vector<Tap>& taps, const T* x, const T* w,
                                    const ConvGeometry& g, const Offsets& o, bool skip_padding) {
  std::array<Acc, kLanes> acc{};
  for (const Tap& tap : taps) {
    if (tap.padded && skip_padding) continue;
    for (int64_t c = 0; c < g.in_channels; ++c) {
      const auto xv = tap.padded ? Acc(0) : static_cast<Acc>(x[tap.x + c * o.x_channel]);
      for (size_t j = 0; j < kLanes; ++j)
        acc[j] = Fma(xv,
                     static_cast<Acc>(w[tap.w + c * o.w_in + static_cast<int64_t>(j) * o.w_out]),
                     acc[j]);
    }
  }
  return acc;
}

template <typename T>
void FloatConv(const ConvGeometry& g, const Offsets& o, const T* x, const T* w, const T* bias,
               bool finite_filter, T* y) {
  constexpr size_t kLanes = 4;
  ForEachPosition(g, o, [&](const std::vector<Tap>& taps, int64_t x0, int64_t channel, int64_t y0) {
    const auto put = [&](int64_t c, T sum) {
      y[y0 + c * o.y_channel] = sum + (bias == nullptr ? T(0) : bias[c]);
    };
    int64_t c = 0;
    for (; c + static_cast<int64_t>(kLanes) <= g.out_channels; c += kLanes) {
      const auto sums = DotProducts<kLanes, T>(taps, x + x0, w + (channel + c) * o.w_out, g, o,
                                               finite_filter);
      for (size_t j = 0; j < kLanes; ++j) put(channel + c + static_cast<int64_t>(j), sums[j]);
    }
    for (; c < g.out_channels; ++c)
      put(channel + c, DotProducts<1, T>(taps, x + x0, w + (channel + c) * o.w_out, g, o,
                                         finite_filter)[0]);
  });
}

template <typename T>
bool AllFinite(std::span<const T> values) {
  return std::all_of(values.begin(), values.end(), [](T v) { return std::isfinite(v); });
}

template <typename T>
Status EvalFloat(EvalContext& ctx, const ConvGeometry& g, const Offsets& o) {
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto w = ctx.in(1).As<T>();
  FloatConv(g, o, ctx.in(0).As<T>().data(), w.data(),
            ctx.has(2) ? ctx.in(2).As<T>().data() : nullptr, AllFinite(w), out.As<T>().data());
  ctx.set_out(0, out.Finish());
  return {};
}

// 16-bit floats: computed in float32, rounded once at the end.
Status EvalHalf(EvalContext& ctx, const ConvGeometry& g, const Offsets& o) {
  const auto widen = [](const Tensor& t) {
    std::vector<float> v(static_cast<size_t>(t.elements()));
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(t.GetDouble(static_cast<int64_t>(i)));
    return v;
  };
  const auto x = widen(ctx.in(0));
  const auto w = widen(ctx.in(1));
  const auto bias = ctx.has(2) ? widen(ctx.in(2)) : std::vector<float>();
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  std::vector<float> y(static_cast<size_t>(out.elements()));
  FloatConv(g, o, x.data(), w.data(), ctx.has(2) ? bias.data() : nullptr,
            AllFinite(std::span<const float>(w)), y.data());
  for (size_t i = 0; i < y.size(); ++i) out.SetDouble(static_cast<int64_t>(i), y[i]);
  ctx.set_out(0, out.Finish());
  return {};
}

// Integer convolution of TensorFlow Lite's reference kernels. A 16-bit input accumulates in 64 bits.
template <typename TX, typename TW>
Status EvalTflite(EvalContext& ctx, const ConvGeometry& g, const Offsets& o) {
  const Quant& xq = *ctx.in_type(0).quant;
  const Quant& wq = *ctx.in_type(1).quant;
  if (ctx.out_type().quant == nullptr) return ModelError("the output is not quantised");
  const Quant& yq = *ctx.out_type().quant;
  constexpr bool kWide = sizeof(TX) == 2;
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const TX* x = ctx.in(0).As<TX>().data();
  const TW* w = ctx.in(1).As<TW>().data();
  TX* y = out.As<TX>().data();
  const int64_t out_channels = g.groups * g.out_channels;
  std::vector<FixedMultiplier> multipliers;
  std::vector<int64_t> bias(static_cast<size_t>(out_channels), 0);
  for (size_t c = 0; c < static_cast<size_t>(out_channels); ++c) {
    multipliers.push_back(ProductMultiplier(kDTypeOf<TX>, xq, wq, c, yq));
    if (ctx.has(2)) bias[c] = ctx.in(2).GetInt(static_cast<int64_t>(c));
  }
  const int64_t x_zero = xq.zero_point();
  const int64_t y_zero = yq.zero_point();
  ForEachPosition(g, o, [&](const std::vector<Tap>& taps, int64_t x0, int64_t channel, int64_t y0) {
    for (int64_t c = channel; c < channel + g.out_channels; ++c) {
      const int64_t w_zero = wq.zero_point(static_cast<size_t>(c));
      int64_t acc = bias[static_cast<size_t>(c)];
      for (const Tap& tap : taps) {
        if (tap.padded) continue;
        for (int64_t i = 0; i < g.in_channels; ++i)
          acc += (x[x0 + tap.x + i * o.x_channel] - x_zero) *
                 (w[c * o.w_out + tap.w + i * o.w_in] - w_zero);
      }
      const FixedMultiplier m = multipliers[static_cast<size_t>(c)];
      const int64_t scaled = kWide ? Rescale64(acc, m) : Rescale(static_cast<int32_t>(acc), m);
      y[y0 + c * o.y_channel] = static_cast<TX>(
          std::clamp<int64_t>(scaled + y_zero, std::numeric_limits<TX>::min(),
                              std::numeric_limits<TX>::max()));
    }
  });
  ctx.set_out(0, out.Finish());
  return {};
}

Status EvalConv(EvalContext& ctx) {
  const auto& a = ctx.attrs<ConvAttrs>();
  const Tensor& x = ctx.in(0);
  const Tensor& w = ctx.in(1);
  NN_ASSIGN(const ConvGeometry g, GeometryOf(a, x.dims(), w.dims()));
  const auto out_dims = ctx.out_type().const_dims();
  if (!out_dims) return InternalError("output shape not inferred");
  const Offsets o = OffsetsOf(a, x.dims(), w.dims(), *out_dims);
  if (ctx.in_type(0).quantised()) {
    if (x.dtype() == DType::kU8 && w.dtype() == DType::kU8)
      return EvalTflite<uint8_t, uint8_t>(ctx, g, o);
    if (x.dtype() == DType::kI8 && w.dtype() == DType::kI8)
      return EvalTflite<int8_t, int8_t>(ctx, g, o);
    if (x.dtype() == DType::kI16 && w.dtype() == DType::kI8)
      return EvalTflite<int16_t, int8_t>(ctx, g, o);
    return UnsupportedError("quantised convolution of {} by {}", DTypeName(x.dtype()),
                            DTypeName(w.dtype()));
  }
  switch (x.dtype()) {
    case DType::kF32: return EvalFloat<float>(ctx, g, o);
    case DType::kF64: return EvalFloat<double>(ctx, g, o);
    case DType::kF16:
    case DType::kBF16: return EvalHalf(ctx, g, o);
    default: return UnsupportedError("convolution of {}", DTypeName(x.dtype()));
  }
}

std::optional<AxesChange> ChangeConvAxes(const Node& node, Operand changed, const AxisMap& map) {
  ConvAttrs a = node.attrs<ConvAttrs>();
  const int rank = node.input(0)->type().rank();
  if (!changed.is_output && changed.index == 2) return std::nullopt;
  if (!changed.is_output && changed.index == 1) {
    for (const FilterLayout to : {FilterLayout::kOix, FilterLayout::kOxi, FilterLayout::kIxo,
                                  FilterLayout::kXio}) {
      if (map != FilterMap(a.filter_layout, to, rank)) continue;
      a.filter_layout = to;
      return AxesChange{a, {}};
    }
    return std::nullopt;
  }
  const auto layout = FlipLayout(a.layout, rank, map);
  if (!layout) return std::nullopt;
  a.layout = *layout;
  return AxesChange{a, {{Operand{!changed.is_output, 0}, map}}};
}

std::optional<int64_t> ConvMultiplyAdds(const Node& node) {
  const auto x = node.input(0)->type().const_dims();
  const auto w = node.input(1)->type().const_dims();
  if (!x || !w) return std::nullopt;
  const auto g = GeometryOf(node.attrs<ConvAttrs>(), *x, *w);
  if (!g) return std::nullopt;
  const std::array<int64_t, 6> factors = {g->batch, g->out_positions(), g->groups,
                                          g->out_channels, g->in_channels, g->taps()};
  return CheckedElements(factors);
}

}  // namespace

void RegisterConvOps(OpRegistry& ops) {
  OpDef conv;
  conv.name = "conv";
  conv.summary = "convolution over 1 to 3 spatial axes, with groups and dilation";
  conv.attrs = AttrsInfoOf<ConvAttrs>();
  conv.inputs = {{"x"}, {"filter"}, {"bias", Arity::kOptional}};
  conv.infer = InferConv;
  conv.eval = EvalConv;
  conv.change_axes = ChangeConvAxes;
  conv.multiply_adds = ConvMultiplyAdds;
  ops.Add(std::move(conv));
}

}  // namespace nn
