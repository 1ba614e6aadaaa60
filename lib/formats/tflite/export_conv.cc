#include <algorithm>

#include "formats/tflite/export.h"
#include "ops/conv.h"
#include "ops/conv_transpose.h"

namespace nn::tflite {
namespace {

fb::Padding PaddingOf(Padding padding) {
  return padding == Padding::kSameUpper ? fb::Padding::SAME : fb::Padding::VALID;
}

int32_t At(const std::vector<int64_t>& list, size_t i) {
  return list.empty() ? 1 : static_cast<int32_t>(list[i]);
}

// Bounds that the options' 32-bit fields set.
bool TooLarge(const std::vector<int64_t>& list) {
  return std::any_of(list.begin(), list.end(), [](int64_t v) { return v > 0x7FFFFFFF; });
}

Status WriteConv2d(ExportContext& ctx, const Node& node, const ConvAttrs& a) {
  VersionTraits traits;
  traits.grouped = a.groups != 1;
  ctx.AddOperator(fb::BuiltinOperator::CONV_2D, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateConv2DOptions(ctx.builder(), PaddingOf(a.padding), At(a.strides, 1),
                                          At(a.strides, 0), ctx.ActivationOf(node),
                                          At(a.dilations, 1), At(a.dilations, 0)),
                  traits);
  return {};
}

Status WriteDepthwise(ExportContext& ctx, const Node& node, const ConvAttrs& a) {
  VersionTraits traits;
  traits.dilated = At(a.dilations, 0) != 1 || At(a.dilations, 1) != 1;
  const auto filter = *node.input(1)->type().const_dims();
  const auto multiplier = static_cast<int32_t>(filter[3] / a.groups);
  ctx.AddOperator(fb::BuiltinOperator::DEPTHWISE_CONV_2D, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateDepthwiseConv2DOptions(
                      ctx.builder(), PaddingOf(a.padding), At(a.strides, 1), At(a.strides, 0),
                      multiplier, ctx.ActivationOf(node), At(a.dilations, 1), At(a.dilations, 0)),
                  traits);
  return {};
}

Status WriteConv(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  if (a.filter_layout == FilterLayout::kOxi) return WriteConv2d(ctx, node, a);
  if (a.filter_layout == FilterLayout::kIxo) return WriteDepthwise(ctx, node, a);
  ctx.AddOperator(
      fb::BuiltinOperator::CONV_3D, ctx.InputsOf(node), ctx.ResultsOf(node),
      fb::CreateConv3DOptions(ctx.builder(), PaddingOf(a.padding), At(a.strides, 0),
                              At(a.strides, 2), At(a.strides, 1), ctx.ActivationOf(node),
                              At(a.dilations, 0), At(a.dilations, 2), At(a.dilations, 1)));
  return {};
}

std::optional<std::string> WhyNotConv(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  const int rank = node.output()->type().rank();
  if (auto reason = WhyNotWeighted(node)) return reason;
  if (rank != 4 && rank != 5) return fmt::format("{} spatial axes", rank - 2);
  if (a.layout != Layout::kNxc) return "channels are not last";
  const Type& filter = node.input(1)->type();
  if (!filter.const_dims()) return "the filter's shape is not known";
  if (a.filter_layout != FilterLayout::kIxo && !node.input(0)->type().dims->back().is_const())
    return "the number of channels is not known";
  if (rank == 5) {
    if (node.output()->type().quantised()) return "quantised convolution on three axes";
    if (a.groups != 1) return "a grouped convolution on three axes";
    if (a.filter_layout != FilterLayout::kXio) return "the filter's axes are in another order";
  } else if (a.filter_layout == FilterLayout::kIxo) {
    if (!(filter.dim(0) == 1)) return "a depthwise filter of several channels";
  } else if (a.filter_layout != FilterLayout::kOxi || IsDepthwise(node)) {
    return "the filter's axes are in another order";
  } else if (node.input(2) == nullptr) {
    return "CONV_2D takes a bias";
  }
  if (a.padding != Padding::kSameUpper && a.padding != Padding::kValid)
    return "the padding is neither SAME nor VALID";
  if (TooLarge(a.strides) || TooLarge(a.dilations)) return "strides beyond 32 bits";
  return std::nullopt;
}

Status WriteConvTranspose(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  VersionTraits traits;
  const fb::ActivationFunctionType activation = ctx.ActivationOf(node);
  traits.activation = activation != fb::ActivationFunctionType::NONE;
  NN_ASSIGN(const TensorIndex shape, ctx.AddDims(*node.output()->type().dims, "output_shape"));
  std::vector<TensorIndex> inputs = {shape, ctx.TensorOf(node.input(1)),
                                     ctx.TensorOf(node.input(0))};
  if (node.input(2) != nullptr) inputs.push_back(ctx.BiasOf(node));
  ctx.AddOperator(fb::BuiltinOperator::TRANSPOSE_CONV, inputs, ctx.ResultsOf(node),
                  fb::CreateTransposeConvOptions(ctx.builder(), *TransposePadding(node),
                                                 At(a.strides, 1), At(a.strides, 0), activation),
                  traits);
  return {};
}

std::optional<std::string> WhyNotConvTranspose(const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  if (auto reason = WhyNotWeighted(node)) return reason;
  if (node.output()->type().rank() != 4)
    return fmt::format("{} spatial axes", node.output()->type().rank() - 2);
  const auto& x = *node.input(0)->type().dims;
  if (std::any_of(x.begin(), x.end(), [](const Dim& d) { return d == 0; }))
    return "a transposed convolution of nothing";
  if (a.layout != Layout::kNxc) return "channels are not last";
  if (a.filter_layout != FilterLayout::kOxi) return "the filter's axes are in another order";
  if (a.groups != 1) return "groups of a transposed convolution";
  for (const int64_t d : a.dilations)
    if (d != 1) return "dilation of a transposed convolution";
  if (!TransposePadding(node)) return "the padding is neither SAME nor VALID";
  return std::nullopt;
}

}  // namespace

bool IsDepthwise(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  const Type& filter = node.input(1)->type();
  const FilterAxes axes = AxesOf(a.filter_layout, filter.rank());
  return filter.rank() == 4 && a.groups > 1 && filter.dim(axes.input) == 1;
}

// The pads are those of the convolution that is inverted: SAME and VALID of its windows over the
// output.
std::optional<fb::Padding> TransposePadding(const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  const auto resolved =
      ConvTransposeWindows(a, *node.input(0)->type().dims, *node.input(1)->type().dims);
  const auto windows = resolved
                           ? ConstWindows(*resolved)
                           : Result<std::vector<ConstWindow>>(tl::unexpected(resolved.error()));
  if (!windows) return std::nullopt;
  bool same = true, valid = true;
  for (const ConstWindow& w : *windows) {
    const int64_t extent = (w.kernel - 1) * w.dilation + 1;
    const int64_t total = std::max<int64_t>(0, (w.input - 1) * w.stride + extent - w.output);
    same &= w.input == (w.output + w.stride - 1) / w.stride && w.pad_begin == total / 2;
    valid &=
        w.pad_begin == 0 && w.output >= extent && w.input == (w.output - extent) / w.stride + 1;
  }
  if (same) return fb::Padding::SAME;
  if (valid) return fb::Padding::VALID;
  return std::nullopt;
}

void AddConvExports(std::vector<ExportRow>& rows) {
  rows.push_back({"conv", WriteConv, WhyNotConv, Always});
  rows.push_back({"conv_transpose", WriteConvTranspose, WhyNotConvTranspose, Always});
}

}  // namespace nn::tflite
