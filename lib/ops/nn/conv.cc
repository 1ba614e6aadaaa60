#include "ops/nn/conv.h"

#include <array>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/nn/conv_eval.h"
#include "ops/quant/quantized.h"
#include "ops/support/index.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> ConvAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&ConvAttrs::layout>("layout"),   Field<&ConvAttrs::filter_layout>("filter_layout"),
      Field<&ConvAttrs::strides>("strides"), Field<&ConvAttrs::dilations>("dilations"),
      Field<&ConvAttrs::pads>("pads"),       Field<&ConvAttrs::padding>("padding"),
      Field<&ConvAttrs::groups>("groups"),
  };
  return fields;
}

FilterAxes AxesOf(FilterLayout layout, int rank) {
  switch (layout) {
    case FilterLayout::kOix:
      return {0, 1, 2};
    case FilterLayout::kOxi:
      return {0, rank - 1, 1};
    case FilterLayout::kIxo:
      return {rank - 1, 0, 1};
    case FilterLayout::kXio:
      return {rank - 1, rank - 2, 0};
    case FilterLayout::kIox:
      return {1, 0, 2};
  }
  return {0, 1, 2};
}

AxisMap FilterMap(FilterLayout from, FilterLayout to, int rank) {
  const FilterAxes a = AxesOf(from, rank);
  const FilterAxes b = AxesOf(to, rank);
  std::vector<int> source(static_cast<size_t>(rank));
  source[static_cast<size_t>(b.output)] = a.output;
  source[static_cast<size_t>(b.input)] = a.input;
  for (int i = 0; i < rank - 2; ++i) {
    source[static_cast<size_t>(b.spatial + i)] = a.spatial + i;
  }
  return AxisMap(rank, std::move(source));
}

std::optional<FilterLayout> FollowFilter(FilterLayout from, int rank, const AxisMap& map) {
  for (const FilterLayout to : {FilterLayout::kOix, FilterLayout::kOxi, FilterLayout::kIxo,
                                FilterLayout::kXio, FilterLayout::kIox})
    if (map == FilterMap(from, to, rank)) return to;
  return std::nullopt;
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
    const int axis = axes.spatial + i;
    const Dim& k = filter[static_cast<size_t>(axis)];
    if (!k.is_const())
      return UnsupportedError("the filter has a dynamic kernel size {}", k.ToString());
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

// The shape of the convolution of inputs 0 and 1; checks the length of the bias, if it is present.
Result<Dims> ConvolvedDims(const InferContext& ctx, size_t bias) {
  const auto& a = ctx.attrs<ConvAttrs>();
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  NN_RETURN_IF_ERROR(RequireRank(ctx, 1, ctx.in(0).rank(), ctx.in(0).rank()));
  const Type& x = ctx.in(0);
  const Type& w = ctx.in(1);
  const int rank = x.rank();
  if (a.groups < 1) return ModelError("groups is {}; must be at least 1", a.groups);
  const FilterAxes axes = AxesOf(a.filter_layout, rank);
  NN_RETURN_IF_ERROR(CheckFilterQuant(w, axes));
  const Dim& in_channels = x.dim(ChannelAxis(a.layout, rank));
  const Dim& out_channels = w.dim(axes.output);
  const Dim expected = w.dim(axes.input) * Dim(a.groups);
  if (in_channels.is_const() && expected.is_const() && in_channels != expected)
    return ModelError("{} input channels, but the filter {} with {} group(s) requires {}",
                      in_channels.ToString(), w.ToString(), a.groups, expected.ToString());
  if (out_channels.is_const() && out_channels.value() % a.groups != 0)
    return ModelError("{} output channels are not divisible by {} groups", out_channels.ToString(),
                      a.groups);
  if (ctx.has(bias)) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, bias, 1, 1));
    const Dim& n = ctx.in(bias).dim(0);
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
  return out;
}

Status InferConv(InferContext& ctx) {
  NN_ASSIGN(Dims out, ConvolvedDims(ctx, 2));
  if (!ctx.in(0).quantized()) {
    NN_RETURN_IF_ERROR(SameDType(ctx, {0, 1, 2}));
  } else if (!ctx.in(1).quantized()) {
    return ModelError("the input is quantized, but the filter is not");
  } else {
    NN_RETURN_IF_ERROR(RequireIntegers(ctx, 2, "a bias of integer sums"));
  }
  ctx.set_out(0, Type(ctx.in(0).dtype, std::move(out)));
  return {};
}

Status InferConvInteger(InferContext& ctx) {
  NN_ASSIGN(Dims out, ConvolvedDims(ctx, 4));
  NN_RETURN_IF_ERROR(RequireIntegerProduct(ctx));
  NN_RETURN_IF_ERROR(RequireOneNumber(ctx, 2));
  if (ctx.has(3) && ctx.in(3).ranked()) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, 3, 0, 1));
    const Type& zero = ctx.in(3);
    const Type& w = ctx.in(1);
    const Dim& channels = w.dim(AxesOf(ctx.attrs<ConvAttrs>().filter_layout, w.rank()).output);
    if (zero.rank() == 1 && zero.dim(0).is_const() && zero.dim(0) != 1 && channels.is_const() &&
        zero.dim(0) != channels)
      return ModelError("the filter has {} zero points for {} output channels",
                        zero.dim(0).ToString(), channels.ToString());
  }
  ctx.set_out(0, Type(DType::kI32, std::move(out)));
  return {};
}

// The taps of all output positions, padded ones included: they matter where a weight is not finite.
ConvProblem ProblemOf(const ConvAttrs& a, const ConvGeometry& g, const std::vector<int64_t>& x,
                      const std::vector<int64_t>& w, const std::vector<int64_t>& y) {
  ConvProblem p = ConvOperands(a.layout, a.filter_layout, g, x, w, y);
  p.w_group = g.out_channels * p.w_out;
  p.taps = [windows = g.windows, kernel = p.kernel, x_spatial = p.x_spatial,
            w_spatial = p.w_spatial](std::span<const int64_t> at, std::vector<ConvTap>& taps) {
    std::vector<int64_t> k(kernel.size(), 0);
    do {
      ConvTap tap{0, 0, false};
      for (size_t i = 0; i < k.size(); ++i) {
        const ConstWindow& window = windows[i];
        const int64_t place = at[i] * window.stride + k[i] * window.dilation - window.pad_begin;
        tap.padded |= place < 0 || place >= window.input;
        tap.x += place * x_spatial[i];
        tap.w += k[i] * w_spatial[i];
      }
      taps.push_back(tap);
    } while (NextIndex(k, kernel));
  };
  return p;
}

template <auto eval>
Status EvalConv(EvalContext& ctx) {
  const auto& a = ctx.attrs<ConvAttrs>();
  const auto& x = ctx.in(0).dims();
  const auto& w = ctx.in(1).dims();
  NN_ASSIGN(const ConvGeometry g, GeometryOf(a, x, w));
  const auto y = ctx.out_type().const_dims();
  if (!y) return InternalError("output shape not inferred");
  return eval(ctx, ProblemOf(a, g, x, w, *y));
}

// The zero points do not follow the axes: none has more than one axis.
std::optional<AxesChange> ChangeConvIntegerAxes(const Node& node, Operand changed,
                                                const AxisMap& map) {
  if (!changed.is_output && changed.index >= 2) return std::nullopt;
  return ChangeConvolutionAxes<ConvAttrs>(node, changed, map);
}

std::optional<int64_t> ConvMultiplyAdds(const Node& node) {
  const auto x = node.input(0)->type().const_dims();
  const auto w = node.input(1)->type().const_dims();
  if (!x || !w) return std::nullopt;
  const auto g = GeometryOf(node.attrs<ConvAttrs>(), *x, *w);
  if (!g) return std::nullopt;
  const std::array<int64_t, 6> factors = {g->batch,        g->out_positions(), g->groups,
                                          g->out_channels, g->in_channels,     g->taps()};
  return CheckedElements(factors);
}

Interval ConvRange(RangeContext& ctx, size_t) {
  for (const Value* v : ctx.node().inputs())
    if (v != nullptr && ctx.Of(v).min < 0) return {};
  return {.min = 0};
}

}  // namespace

void RegisterConvOps(OpRegistry& ops) {
  OpDef conv;
  conv.name = "conv";
  conv.summary = "convolution over 1 to 3 spatial axes, with groups and dilation";
  conv.category = Category::kConvolution;
  conv.quant_rule = QuantRule::kProduct;
  conv.range = ConvRange;
  conv.takes_unit_axes = true;
  conv.attrs = AttrsInfoOf<ConvAttrs>();
  conv.inputs = {{"x"}, {"filter"}, {"bias", Arity::kOptional}};
  conv.infer = InferConv;
  conv.eval = EvalConv<EvalConvolution>;
  conv.change_axes = ChangeConvolutionAxes<ConvAttrs>;
  conv.multiply_adds = ConvMultiplyAdds;
  ops.Add(std::move(conv));

  OpDef integer;
  integer.name = "conv_integer";
  integer.summary = "convolution of 8-bit integers less their zero points, in 32 bits";
  integer.category = Category::kConvolution;
  integer.quant_rule = QuantRule::kStored;
  integer.attrs = AttrsInfoOf<ConvAttrs>();
  integer.inputs = {{"x"},
                    {"filter"},
                    {"x_zero_point", Arity::kOptional},
                    {"filter_zero_point", Arity::kOptional},
                    {"bias", Arity::kOptional}};
  integer.infer = InferConvInteger;
  integer.eval = EvalConv<EvalIntegerConvolution>;
  integer.change_axes = ChangeConvIntegerAxes;
  integer.multiply_adds = ConvMultiplyAdds;
  ops.Add(std::move(integer));
}

}  // namespace nn
