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
  return node.attrs<ConvAttrs>().filter_layout == FilterLayout::kIxo;
}

Status WriteConv(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  const int64_t channels = node.output()->type().const_dims()->back();
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t filter, ctx.OperandOf(node.input(1)));
  NN_ASSIGN(const uint32_t bias, BiasOf(ctx, node, channels));
  std::vector<uint32_t> inputs = {x, filter, bias};
  NN_ASSIGN(const auto windows,
            ConvWindows(a, *node.input(0)->type().dims, *node.input(1)->type().dims));
  NN_RETURN_IF_ERROR(AppendWindow(ctx, windows, a.padding, inputs));
  if (IsDepthwise(node)) {
    NN_ASSIGN(const uint32_t multiplier, ctx.Int(channels / a.groups));
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
  if (auto reason = WhyNotProduct(node)) return reason;
  const Type& filter = node.input(1)->type();
  const Dim inputs = filter.dim(AxesOf(a.filter_layout, filter.rank()).input);
  if (a.groups != 1 && !(inputs == 1))
    return fmt::format(
        "NNAPI 1.0 has no convolution of {} groups with {} channels each; only depthwise ones",
        a.groups, inputs.ToString());
  if (auto reason = WhyNotLayout(a.layout)) return reason;
  const bool plain = a.groups == 1 && a.filter_layout == FilterLayout::kOxi;
  if (!plain && (a.filter_layout != FilterLayout::kIxo || !(inputs == 1)))
    return "the filter layout must be OXI, or IXO if depthwise";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WhyNotLayout(Layout layout) {
  if (layout != Layout::kNxc) return "the channels must be the last axis";
  return std::nullopt;
}

std::optional<std::string> WhyNotWindow(const Node& node, const std::vector<int64_t>& dilations) {
  if (const int rank = node.input(0)->type().rank(); rank != 4)
    return fmt::format("it must have 2 spatial axes, not {}", rank - 2);
  for (const int64_t d : dilations)
    if (d != 1) return fmt::format("dilation must be 1, not {}", d);
  return std::nullopt;
}

Status AppendWindow(ExportContext& ctx, const std::vector<Window>& windows, Padding padding,
                    std::vector<uint32_t>& inputs) {
  NN_ASSIGN(const auto known, ConstWindows(windows));
  std::vector<int64_t> numbers;
  if (padding == Padding::kSameUpper) {
    numbers = {static_cast<int64_t>(ImplicitPadding::kSame)};
  } else if (padding == Padding::kValid) {
    numbers = {static_cast<int64_t>(ImplicitPadding::kValid)};
  } else {
    // The end pad with which rounding down gives a size that was rounded up.
    const auto end = [](const ConstWindow& w) {
      return std::max(w.pad_end, (w.output - 1) * w.stride + w.kernel - w.input - w.pad_begin);
    };
    numbers = {known[1].pad_begin, end(known[1]), known[0].pad_begin, end(known[0])};
  }
  numbers.push_back(known[1].stride);
  numbers.push_back(known[0].stride);
  for (const int64_t n : numbers) {
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

std::optional<std::string> WhyNotProduct(const Node& node) {
  const Type& x = node.input(0)->type();
  const Type& w = node.input(1)->type();
  const Type& y = node.output()->type();
  if (x.dtype != w.dtype || x.dtype != y.dtype || x.dtype == DType::kI32)
    return fmt::format("NNAPI 1.0 has no {} for {} and {} operands", node.op_name(),
                       DTypeName(x.dtype), DTypeName(w.dtype));
  const Value* const bias = node.input(2);
  if (bias != nullptr && bias->dtype() != (x.quantized() ? DType::kI32 : DType::kF32))
    return fmt::format("the bias must be {}, not {}", x.quantized() ? "i32" : "f32",
                       DTypeName(bias->dtype()));
  if (!x.quantized()) return std::nullopt;
  if (node.arithmetic() != Arithmetic::kTflite)
    return "its quantized arithmetic must be TensorFlow Lite's";
  if (bias != nullptr && !bias->is_constant() && !HasScale(*bias, *ProductQuant(x, w)))
    return fmt::format("the bias {} must have scale input scale * filter scale",
                       bias->type().ToString());
  if (!(y.quant->scale() > x.quant->scale() * w.quant->scale()))
    return fmt::format("the output scale {} must be above that of the product, {}",
                       FloatText(y.quant->scale()), FloatText(x.quant->scale() * w.quant->scale()));
  return std::nullopt;
}

Result<uint32_t> BiasOf(ExportContext& ctx, const Node& node, int64_t channels) {
  const Value* const bias = node.input(2);
  const Type& x = node.input(0)->type();
  const auto count = static_cast<size_t>(channels);
  if (!x.quantized() && bias == nullptr)
    return ctx.AddConstant(Tensor::Of({channels}, std::vector<float>(count)));
  if (!x.quantized()) return ctx.OperandOf(bias);
  // The kernels add the integers regardless of the bias scale; NNAPI requires the scale of the
  // products.
  const auto scale = ProductQuant(x, node.input(1)->type());
  if (bias != nullptr && bias->is_constant() && !HasScale(*bias, *scale))
    return ctx.AddConstant(bias->constant(), scale.get());
  if (bias != nullptr) return ctx.OperandOf(bias);
  return ctx.AddConstant(Tensor::Of({channels}, std::vector<int32_t>(count)), scale.get());
}

namespace {

constexpr ImportRow kConvImports[] = {
    {.operation = OperationType::kConv2d, .import = ImportConv},
    {.operation = OperationType::kDepthwiseConv2d, .import = ImportDepthwise},
};

constexpr ExportRow kConvExports[] = {
    {.op = "conv", .write = WriteConv, .why_not = WhyNotConv, .fuses = true, .integers = 2},
};

}  // namespace

Family ConvFamily() {
  return {.imports = kConvImports, .exports = kConvExports};
}

}  // namespace nn::nnapi
