#include <algorithm>

#include "formats/nnapi/family.h"
#include "ops/nn/conv.h"
#include "ops/quant/quantized.h"

namespace nn::nnapi {

// ==== From NNAPI =================================================================================

namespace {

struct ConvArguments {
  std::vector<Value*> inputs;  // x, filter, bias
  ConvAttrs attrs;
  size_t next;  // the argument after the window
};

Result<ConvArguments> ReadConv(const ImportContext& ctx, bool implicit) {
  ConvArguments c;
  for (size_t i = 0; i < 3; ++i) {
    NN_ASSIGN(Value* const v, ctx.Required(i));
    c.inputs.push_back(v);
    const int rank = i < 2 ? 4 : 1;
    if (v->type().ranked() && v->type().rank() != rank)
      return ModelError("input {} is {}; it must have rank {}", i, v->type().ToString(), rank);
  }
  NN_ASSIGN(WindowArguments w, ReadWindow(ctx, 3, implicit));
  c.attrs.layout = Layout::kNxc;
  c.attrs.strides = std::move(w.strides);
  c.attrs.pads = std::move(w.pads);
  c.attrs.padding = w.padding;
  c.next = w.next;
  return c;
}

Status ImportConv(ImportContext& ctx) {
  NN_ASSIGN(ConvArguments c, ReadConv(ctx, ctx.input_count() == 7));
  c.attrs.filter_layout = FilterLayout::kOxi;
  return ctx.EmitFused("conv", std::move(c.inputs), std::move(c.attrs), c.next);
}

Status ImportDepthwise(ImportContext& ctx) {
  NN_ASSIGN(ConvArguments c, ReadConv(ctx, ctx.input_count() == 8));
  NN_ASSIGN(const int64_t multiplier, ctx.Int(c.next));
  const Type& filter = c.inputs[1]->type();
  if (!filter.ranked() || !filter.dim(3).is_const())
    return UnsupportedError("the shape of the filter {} must be known", filter.ToString());
  const int64_t channels = filter.dim(3).value();
  if (filter.dim(0).is_const() && !(filter.dim(0) == 1))
    return ModelError("the first dimension of the filter {} must be 1", filter.ToString());
  if (multiplier < 1 || channels < 1 || channels % multiplier != 0)
    return ModelError("depth multiplier {} does not divide {} output channels", multiplier,
                      channels);
  c.attrs.filter_layout = FilterLayout::kIxo;
  c.attrs.groups = channels / multiplier;
  return ctx.EmitFused("conv", std::move(c.inputs), std::move(c.attrs), c.next + 1);
}

}  // namespace

// ==== To NNAPI ===================================================================================

namespace {

bool IsDepthwise(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  const Type& filter = node.input(1)->type();
  return a.groups != 1 || (a.filter_layout == FilterLayout::kIxo && filter.dim(0) == 1);
}

FilterLayout FilterLayoutFor(const Node& node) {
  return IsDepthwise(node) ? FilterLayout::kIxo : FilterLayout::kOxi;
}

Status WriteConv(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  const Type& filter_type = node.input(1)->type();
  const Type& y = node.output()->type();
  const Dim channels = y.dim(ChannelAxis(a.layout, y.rank()));
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0), ChannelsLastMap(node)));
  NN_ASSIGN(const uint32_t filter,
            ctx.OperandOf(node.input(1),
                          FilterMap(a.filter_layout, FilterLayoutFor(node), filter_type.rank())));
  NN_ASSIGN(const uint32_t bias, BiasOf(ctx, node, channels));
  std::vector<uint32_t> inputs = {x, filter, bias};
  NN_RETURN_IF_ERROR(AppendWindow(
      ctx, ConvWindows(a, *node.input(0)->type().dims, *filter_type.dims), a.padding, inputs));
  if (IsDepthwise(node)) {
    NN_ASSIGN(const uint32_t multiplier, ctx.Int(Dim::FloorDiv(channels, Dim(a.groups))));
    inputs.push_back(multiplier);
  }
  NN_ASSIGN(const uint32_t activation, ctx.Activation(node));
  inputs.push_back(activation);
  const auto type = IsDepthwise(node) ? OperationType::kDepthwiseConv2d : OperationType::kConv2d;
  return ctx.AddOperation(node, type, std::move(inputs));
}

std::optional<std::string> WhyNotConv(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  if (auto reason = WhyNotWindow(node, a.dilations)) return reason;
  const Type& filter = node.input(1)->type();
  const Dim inputs = filter.dim(AxesOf(a.filter_layout, filter.rank()).input);
  if (a.groups != 1 && !(inputs == 1))
    return fmt::format(
        "NNAPI 1.0 has no convolution of {} groups with {} channels each; only depthwise ones",
        a.groups, inputs.ToString());
  return WhyNotArithmetic(node);
}

std::optional<std::string> WhyNotConvLayout(const Node& node) {
  if (auto reason = WhyNotLayout(node)) return reason;
  if (node.attrs<ConvAttrs>().filter_layout != FilterLayoutFor(node))
    return "the filter layout must be OXI, or IXO if depthwise";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WhyNotWindow(const Node& node, const std::vector<int64_t>& dilations) {
  if (const int rank = node.input(0)->type().rank(); rank != 4)
    return fmt::format("it must have 2 spatial axes, not {}", rank - 2);
  for (const int64_t d : dilations)
    if (d != 1) return fmt::format("dilation must be 1, not {}", d);
  return std::nullopt;
}

Status AppendWindow(ExportContext& ctx, const Result<std::vector<Window>>& windows, Padding padding,
                    std::vector<uint32_t>& inputs) {
  Dims numbers;
  const auto known = windows ? ConstWindows(*windows) : tl::unexpected(windows.error());
  if (padding == Padding::kSameUpper) {
    numbers = {static_cast<int64_t>(ImplicitPadding::kSame)};
  } else if (padding == Padding::kValid) {
    numbers = {static_cast<int64_t>(ImplicitPadding::kValid)};
  } else if (known) {
    // The end pad with which rounding down gives a size that was rounded up.
    const auto end = [](const ConstWindow& w) {
      return std::max(w.pad_end, (w.output - 1) * w.stride + w.kernel - w.input - w.pad_begin);
    };
    const auto& axes = *known;
    numbers = {axes[1].pad_begin, end(axes[1]), axes[0].pad_begin, end(axes[0])};
  } else if (known.error().code() == ErrorCode::kUnsupported) {
    numbers.assign(4, Dim::Symbol("pad"));
  } else {
    return tl::unexpected(known.error());
  }
  for (const size_t axis : {size_t{1}, size_t{0}})
    numbers.push_back(windows ? Dim((*windows)[axis].stride) : Dim::Symbol("stride"));
  for (const Dim& n : numbers) {
    NN_ASSIGN(const uint32_t operand, ctx.Int(n));
    inputs.push_back(operand);
  }
  return {};
}

namespace {

// Whether the bias has the quantization of the product, as NNAPI requires.
bool HasScale(const Value& bias, const Quant& product) {
  return bias.type().quantized() && SameButForRounding(*bias.type().quant, product);
}

}  // namespace

Result<uint32_t> BiasOf(ExportContext& ctx, const Node& node, const Dim& channels) {
  const Value* const bias = node.input(2);
  const Type& x = node.input(0)->type();
  const Type& w = node.input(1)->type();
  if (!x.quantized() || !w.quantized())
    return bias == nullptr ? ctx.AddZeros(DType::kF32, channels) : ctx.OperandOf(bias);
  // The kernels add the integers regardless of the bias scale; NNAPI requires the scale of the
  // products.
  const auto scale = ProductQuant(x, w);
  if (bias == nullptr) return ctx.AddZeros(DType::kI32, channels, scale.get());
  if (bias->is_constant() && bias->dtype() == DType::kI32 && !HasScale(*bias, *scale))
    return ctx.AddConstant(bias->constant(), scale.get());
  return ctx.OperandOf(bias);
}

namespace {

constexpr ImportRow kConvImports[] = {
    {.operation = OperationType::kConv2d, .import = ImportConv},
    {.operation = OperationType::kDepthwiseConv2d, .import = ImportDepthwise},
};

constexpr ExportRow kConvExports[] = {
    {.op = "conv",
     .write = WriteConv,
     .why_not = WhyNotConv,
     .why_not_layout = WhyNotConvLayout,
     .fuses = true},
};

}  // namespace

Family ConvFamily() {
  return {.imports = kConvImports, .exports = kConvExports};
}

}  // namespace nn::nnapi
