#include "ops/nn/conv_transpose.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/nn/conv_eval.h"
#include "ops/support/array_shape.h"
#include "ops/support/index.h"
#include "ops/support/types.h"
#include "ops/support/window_shape.h"

namespace nn {

std::span<const AttrField> ConvTransposeAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&ConvTransposeAttrs::layout>("layout"),
      Field<&ConvTransposeAttrs::filter_layout>("filter_layout"),
      Field<&ConvTransposeAttrs::strides>("strides"),
      Field<&ConvTransposeAttrs::dilations>("dilations"),
      Field<&ConvTransposeAttrs::pads>("pads"),
      Field<&ConvTransposeAttrs::padding>("padding"),
      Field<&ConvTransposeAttrs::output_padding>("output_padding"),
      Field<&ConvTransposeAttrs::output_shape>("output_shape"),
      Field<&ConvTransposeAttrs::groups>("groups"),
  };
  return fields;
}

namespace {

Result<int64_t> ItemOf(const std::vector<int64_t>& list, size_t i, size_t size, int64_t fallback,
                       int64_t at_least, std::string_view name) {
  if (list.empty()) return fallback;
  if (list.size() != size)
    return ModelError("{} has {} entries; must have {}", name, list.size(), size);
  if (list[i] < at_least || list[i] > (int64_t{1} << 31))
    return ModelError("{}[{}] is {}, out of range", name, i, list[i]);
  return list[i];
}

// Sets the output size and the number of elements cropped at the start and the end.
Status ResolveAxis(const ConvTransposeAttrs& a, size_t i, size_t rank, Window& w) {
  constexpr int64_t kAnyPad = -(int64_t{1} << 31);
  NN_ASSIGN(const int64_t extra, ItemOf(a.output_padding, i, rank, 0, 0, "output_padding"));
  const Dim full = TransposedExtent(w.input, Dim(w.extent()) + Dim(extra), Dim(w.stride));
  const bool same = a.padding == Padding::kSameUpper || a.padding == Padding::kSameLower;
  if (same) {
    w.output =
        a.output_shape.empty() ? SameTransposedExtent(w.input, Dim(w.stride)) : a.output_shape[i];
    const Dim total = Dim::Max(full - w.output, Dim(0));
    const Dim half = Dim::FloorDiv(total, Dim(2));
    w.pad_begin = a.padding == Padding::kSameUpper ? half : total - half;
  } else {
    static const std::vector<int64_t> kNone;
    const auto& pads = a.padding == Padding::kExplicit ? a.pads : kNone;
    NN_ASSIGN(const int64_t begin, ItemOf(pads, i, 2 * rank, 0, kAnyPad, "pads"));
    NN_ASSIGN(const int64_t end, ItemOf(pads, rank + i, 2 * rank, 0, kAnyPad, "pads"));
    w.pad_begin = Dim(begin);
    w.output = a.output_shape.empty() ? PaddedSize(full, -begin, -end) : a.output_shape[i];
  }
  w.pad_end = full - w.pad_begin - w.output;
  if (w.output.is_const() && w.output.value() < 1 && !(w.input == 0))
    return ModelError("spatial axis {} of size {} would have output size {}", i, w.input.ToString(),
                      w.output.ToString());
  if (w.output.is_const() && w.output.value() < 0) w.output = Dim(0);
  return {};
}

}  // namespace

Result<std::vector<Window>> ConvTransposeWindows(const ConvTransposeAttrs& a, const Dims& input,
                                                 const Dims& filter) {
  const FilterAxes axes = AxesOf(a.filter_layout, static_cast<int>(filter.size()));
  const Dims spatial = SpatialDims(input, a.layout);
  if (!a.output_shape.empty() && a.output_shape.size() != spatial.size())
    return ModelError("output_shape has {} entries for {} spatial axes", a.output_shape.size(),
                      spatial.size());
  std::vector<Window> windows(spatial.size());
  for (size_t i = 0; i < windows.size(); ++i) {
    Window& w = windows[i];
    const Dim& k = filter[static_cast<size_t>(axes.spatial) + i];
    if (!k.is_const())
      return UnsupportedError("the filter has a dynamic kernel size {}", k.ToString());
    if (k.value() < 1 || k.value() > (int64_t{1} << 31))
      return ModelError("kernel size {} on spatial axis {} is out of range", k.value(), i);
    w.input = spatial[i];
    w.kernel = k.value();
    NN_ASSIGN(w.stride, ItemOf(a.strides, i, windows.size(), 1, 1, "strides"));
    NN_ASSIGN(w.dilation, ItemOf(a.dilations, i, windows.size(), 1, 1, "dilations"));
    NN_RETURN_IF_ERROR(ResolveAxis(a, i, windows.size(), w));
  }
  return windows;
}

Result<ConvGeometry> GeometryOf(const ConvTransposeAttrs& attrs, const std::vector<int64_t>& input,
                                const std::vector<int64_t>& filter) {
  NN_ASSIGN(const auto windows, ConvTransposeWindows(attrs, ToDims(input), ToDims(filter)));
  const int rank = static_cast<int>(input.size());
  const FilterAxes axes = AxesOf(attrs.filter_layout, rank);
  ConvGeometry g;
  g.batch = input[0];
  g.groups = attrs.groups;
  g.in_channels = input[static_cast<size_t>(ChannelAxis(attrs.layout, rank))] / attrs.groups;
  g.out_channels = filter[static_cast<size_t>(axes.output)];
  NN_ASSIGN(g.windows, ConstWindows(windows));
  return g;
}

namespace {

Status CheckChannels(const InferContext& ctx, const Dim& out_channels) {
  const auto& a = ctx.attrs<ConvTransposeAttrs>();
  const Type& x = ctx.in(0);
  const Type& w = ctx.in(1);
  const Dim& have = x.dim(ChannelAxis(a.layout, x.rank()));
  const Dim& takes = w.dim(AxesOf(a.filter_layout, x.rank()).input);
  if (have.is_const() && takes.is_const() && have != takes)
    return ModelError("{} input channels, but the filter {} requires {}", have.ToString(),
                      w.ToString(), takes.ToString());
  if (takes.is_const() && takes.value() % a.groups != 0)
    return ModelError("{} input channels are not divisible by {} groups", takes.ToString(),
                      a.groups);
  if (!ctx.has(2)) return {};
  NN_RETURN_IF_ERROR(RequireRank(ctx, 2, 1, 1));
  const Dim& n = ctx.in(2).dim(0);
  if (n.is_const() && out_channels.is_const() && n != out_channels)
    return ModelError("bias has {} elements for {} output channels", n.ToString(),
                      out_channels.ToString());
  return {};
}

Status InferConvTranspose(InferContext& ctx) {
  const auto& a = ctx.attrs<ConvTransposeAttrs>();
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  NN_RETURN_IF_ERROR(RequireRank(ctx, 1, ctx.in(0).rank(), ctx.in(0).rank()));
  const Type& x = ctx.in(0);
  const Type& w = ctx.in(1);
  const int rank = x.rank();
  if (!x.quantized()) {
    NN_RETURN_IF_ERROR(SameDType(ctx, {0, 1, 2}));
  } else if (!w.quantized()) {
    return ModelError("the input is quantized, but the filter is not");
  } else {
    NN_RETURN_IF_ERROR(RequireIntegers(ctx, 2, "a bias of integer sums"));
  }
  if (a.groups < 1) return ModelError("groups is {}; must be at least 1", a.groups);
  const FilterAxes axes = AxesOf(a.filter_layout, rank);
  NN_RETURN_IF_ERROR(CheckFilterQuant(w, axes));
  const Dim out_channels = w.dim(axes.output) * Dim(a.groups);
  if (x.quantized() && w.quant->scales.size() > 1 && a.groups > 1)
    return ModelError("the filter has {} scales for {} output channels", w.quant->scales.size(),
                      out_channels.ToString());
  NN_RETURN_IF_ERROR(CheckChannels(ctx, out_channels));
  NN_ASSIGN(const auto windows, ConvTransposeWindows(a, *x.dims, *w.dims));
  Dims out(static_cast<size_t>(rank));
  out[0] = x.dim(0);
  out[static_cast<size_t>(ChannelAxis(a.layout, rank))] = out_channels;
  for (size_t i = 0; i < windows.size(); ++i)
    out[static_cast<size_t>(FirstSpatialAxis(a.layout)) + i] = windows[i].output;
  ctx.set_out(0, Type(x.dtype, std::move(out)));
  return {};
}

// The kernel positions of one axis that meet an input, and the inputs that they meet. The number of
// steps does not depend on the kernel size: kernel position k meets input (at + pad - k * dilation)
// / stride where that is a whole number, which is every step-th k.
class AxisTaps {
 public:
  AxisTaps(const ConstWindow& window, int64_t x_distance, int64_t w_distance)
      : window_(window), x_distance_(x_distance), w_distance_(w_distance) {
    divisor_ = std::gcd(window.dilation, window.stride);
    step_ = window.stride / divisor_;
    // The inverse of dilation / divisor modulo step, by Euclid's algorithm.
    int64_t r0 = step_, r1 = window.dilation / divisor_ % step_, t0 = 0, t1 = 1;
    while (r1 != 0) {
      const int64_t q = r0 / r1;
      r0 = std::exchange(r1, r0 - q * r1);
      t0 = std::exchange(t1, t0 - q * t1);
    }
    inverse_ = ModuloStep(t0);
  }

  // Replaces `taps` by those of output position `at`, in order of kernel position.
  void At(int64_t at, std::vector<ConvTap>& taps) const {
    taps.clear();
    const int64_t from = at + window_.pad_begin;
    if (from % divisor_ != 0) return;
    // The first and the last k with an input inside the axis.
    const int64_t first = std::max<int64_t>(
        0, CeilDiv(from - (window_.input - 1) * window_.stride, window_.dilation));
    const int64_t last = std::min(window_.kernel - 1, FloorDiv(from, window_.dilation));
    const int64_t k0 = ModuloStep(ModuloStep(from / divisor_) * inverse_);
    for (int64_t k = first + ModuloStep(k0 - first); k <= last; k += step_) {
      const int64_t place = (from - k * window_.dilation) / window_.stride;
      taps.push_back({place * x_distance_, k * w_distance_, false});
    }
  }

 private:
  // `n` modulo step, at least 0. Strides are at most 2^31: products of two results do not overflow.
  int64_t ModuloStep(int64_t n) const { return (n % step_ + step_) % step_; }

  ConstWindow window_;
  int64_t x_distance_, w_distance_;
  int64_t divisor_, step_, inverse_;
};

ConvProblem ProblemOf(const ConvTransposeAttrs& a, const ConvGeometry& g,
                      const std::vector<int64_t>& x, const std::vector<int64_t>& w,
                      const std::vector<int64_t>& y) {
  ConvProblem p = ConvOperands(a.layout, a.filter_layout, g, x, w, y);
  p.w_group = g.in_channels * p.w_in;
  std::vector<AxisTaps> axes;
  for (size_t i = 0; i < g.windows.size(); ++i)
    axes.emplace_back(g.windows[i], p.x_spatial[i], p.w_spatial[i]);
  p.taps = [axes = std::move(axes)](std::span<const int64_t> at, std::vector<ConvTap>& taps) {
    std::vector<ConvTap> of_axis, before;
    taps.push_back({0, 0, false});
    for (size_t i = 0; i < axes.size(); ++i) {
      axes[i].At(at[i], of_axis);
      before.swap(taps);
      taps.clear();
      for (const ConvTap& b : before)
        for (const ConvTap& t : of_axis) taps.push_back({b.x + t.x, b.w + t.w, false});
    }
  };
  return p;
}

Status EvalConvTranspose(EvalContext& ctx) {
  const auto& a = ctx.attrs<ConvTransposeAttrs>();
  const auto& x = ctx.in(0).dims();
  const auto& w = ctx.in(1).dims();
  NN_ASSIGN(const ConvGeometry g, GeometryOf(a, x, w));
  const auto y = ctx.out_type().const_dims();
  if (!y) return InternalError("output shape not inferred");
  return EvalConvolution(ctx, ProblemOf(a, g, x, w, *y));
}

// Every input element is multiplied by every weight of its group.
std::optional<int64_t> ConvTransposeMultiplyAdds(const Node& node) {
  const auto x = node.input(0)->type().const_dims();
  const auto w = node.input(1)->type().const_dims();
  if (!x || !w) return std::nullopt;
  const auto g = GeometryOf(node.attrs<ConvTransposeAttrs>(), *x, *w);
  if (!g) return std::nullopt;
  std::vector<int64_t> factors = *x;
  factors.insert(factors.end(), {g->out_channels, g->taps()});
  return CheckedElements(factors);
}

// TensorFlow Lite's kernel has no groups, and the filter of a group cannot have the scales of the
// channels of all.
bool HasQuantizedTranspose(const Node& node, const Type&, const Type&) {
  return node.attrs<ConvTransposeAttrs>().groups == 1;
}

}  // namespace

void RegisterConvTransposeOps(OpRegistry& ops) {
  OpDef op;
  op.name = "conv_transpose";
  op.summary = "transposed convolution over 1 to 3 spatial axes, with groups and dilation";
  op.category = Category::kConvolution;
  op.quant_rule = QuantRule::kProduct;
  op.has_quantized_form = HasQuantizedTranspose;
  op.takes_unit_axes = true;
  op.attrs = AttrsInfoOf<ConvTransposeAttrs>();
  op.inputs = {{"x"}, {"filter"}, {"bias", Arity::kOptional}};
  op.infer = InferConvTranspose;
  op.eval = EvalConvTranspose;
  op.change_axes = ChangeConvolutionAxes<ConvTransposeAttrs>;
  op.multiply_adds = ConvTransposeMultiplyAdds;
  ops.Add(std::move(op));
}

}  // namespace nn
