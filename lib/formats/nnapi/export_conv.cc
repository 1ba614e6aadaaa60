#include <algorithm>

#include "formats/nnapi/export.h"
#include "ops/conv.h"

namespace nn::nnapi {
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
  if (auto reason = WhyNotWindow(node, a.layout, a.dilations)) return reason;
  if (auto reason = WhyNotProduct(node)) return reason;
  const Type& filter = node.input(1)->type();
  const Dim inputs = filter.dim(AxesOf(a.filter_layout, filter.rank()).input);
  if (a.groups == 1 && a.filter_layout == FilterLayout::kOxi) return std::nullopt;
  if (a.groups != 1 && !(inputs == 1))
    return fmt::format("{} groups of {} channels", a.groups, inputs.ToString());
  if (a.filter_layout != FilterLayout::kIxo || !(inputs == 1))
    return "the filter's axes are in another order";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WhyNotWindow(const Node& node, Layout layout,
                                        const std::vector<int64_t>& dilations) {
  if (const int rank = node.input(0)->type().rank(); rank != 4)
    return fmt::format("{} spatial axes", rank - 2);
  if (layout != Layout::kNxc) return "channels are not last";
  for (const int64_t d : dilations)
    if (d != 1) return fmt::format("dilation {}", d);
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
    // The end that makes rounding down give the size, where it was rounded up.
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

// What NNAPI wants the bias of a quantised product to be quantised by.
std::shared_ptr<const Quant> ProductScale(const Node& node) {
  return Quant::PerTensor(
      node.input(0)->type().quant->scale() * node.input(1)->type().quant->scale(), 0);
}

bool HasScale(const Value& bias, const Quant& product) {
  constexpr double kSlack = 1e-6;  // rounding of the product
  if (!bias.type().quantised() || bias.type().quant->zero_point() != 0) return false;
  const double have = bias.type().quant->scale(), want = product.scale();
  return std::abs(have - want) <= kSlack * std::min(have, want);
}

}  // namespace

std::optional<std::string> WhyNotProduct(const Node& node) {
  const Type& x = node.input(0)->type();
  const Type& w = node.input(1)->type();
  const Type& y = node.output()->type();
  if (x.dtype != w.dtype || x.dtype != y.dtype || x.dtype == DType::kI32)
    return fmt::format("{} of {} and {}", node.op_name(), DTypeName(x.dtype), DTypeName(w.dtype));
  const Value* const bias = node.input(2);
  if (bias != nullptr && bias->dtype() != (x.quantised() ? DType::kI32 : DType::kF32))
    return fmt::format("a bias of {}", DTypeName(bias->dtype()));
  if (!x.quantised()) return std::nullopt;
  if (node.arithmetic() != Arithmetic::kTflite) return "quantised by other rules";
  if (bias != nullptr && !bias->is_constant() && !HasScale(*bias, *ProductScale(node)))
    return fmt::format("a bias of {}", bias->type().ToString());
  if (!(y.quant->scale() > x.quant->scale() * w.quant->scale()))
    return fmt::format("an output scale of {}, not above that of the product, {}",
                       FloatText(y.quant->scale()), FloatText(x.quant->scale() * w.quant->scale()));
  return std::nullopt;
}

Result<uint32_t> BiasOf(ExportContext& ctx, const Node& node, int64_t channels) {
  const Value* const bias = node.input(2);
  const Type& x = node.input(0)->type();
  const auto count = static_cast<size_t>(channels);
  if (!x.quantised() && bias == nullptr)
    return ctx.AddConstant(Tensor::Of({channels}, std::vector<float>(count)));
  if (!x.quantised()) return ctx.OperandOf(bias);
  // The kernels add the integers, whatever scale the bias has; NNAPI has the scale of the products.
  const auto scale = ProductScale(node);
  if (bias != nullptr && bias->is_constant() && !HasScale(*bias, *scale))
    return ctx.AddConstant(bias->constant(), scale.get());
  if (bias != nullptr) return ctx.OperandOf(bias);
  return ctx.AddConstant(Tensor::Of({channels}, std::vector<int32_t>(count)), scale.get());
}

void AddConvExports(std::vector<ExportRow>& rows) {
  rows.push_back({"conv", WriteConv, WhyNotConv, true});
}

}  // namespace nn::nnapi
