#include <fmt/core.h>

#include <algorithm>

#include "formats/coreml/export.h"
#include "formats/coreml/weights.h"
#include "formats/coreml/window.h"
#include "ops/conv.h"
#include "ops/conv_transpose.h"

namespace nn::coreml {
namespace {

void WriteBias(Writer params, const Node& node) {
  if (node.input(2) == nullptr) return;
  params.Bool("hasBias", true);
  WriteWeights(params.Sub("bias"), *ConstantOf(node, 2));
}

// ---- Three axes ---------------------------------------------------------------------------------

constexpr std::array kAxes = {"Depth", "Height", "Width"};

void WriteSizes3(Writer params, std::string_view prefix, const std::vector<int64_t>& values) {
  for (size_t i = 0; i < kAxes.size(); ++i) params.Int(std::string(prefix) + kAxes[i], values[i]);
}

void WriteConv3d(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  const auto& filter = node.input(1)->constant().dims();
  Writer p = ctx.AddLayer(node, "convolution3d", 1);
  p.Int("outputChannels", filter[0]);
  p.Int("inputChannels", filter[1] * a.groups);
  p.Int("nGroups", a.groups);
  WriteSizes3(p, "kernel", {filter.begin() + 2, filter.end()});
  WriteSizes3(p, "stride", OrOnes(a.strides, 3));
  WriteSizes3(p, "dilation", OrOnes(a.dilations, 3));
  if (a.padding == Padding::kSameUpper) {
    p.Enum("paddingType", "SAME");
  } else if (a.padding == Padding::kValid || a.pads.empty()) {
    p.Enum("paddingType", "VALID");
  } else {
    constexpr std::array kSides = {"Front", "Top", "Left", "Back", "Bottom", "Right"};
    p.Enum("paddingType", "CUSTOM");
    for (size_t i = 0; i < kSides.size(); ++i)
      p.Int(std::string("customPadding") + kSides[i], a.pads[i]);
  }
  WriteWeights(p.Sub("weights"), node.input(1)->constant());
  WriteBias(p, node);
}

// ---- Two axes -----------------------------------------------------------------------------------

Status WriteConv(ExportContext& ctx, const Node& node) {
  if (node.input(0)->type().rank() == 5) {
    WriteConv3d(ctx, node);
    return {};
  }
  const auto& a = node.attrs<ConvAttrs>();
  const std::vector<int64_t> filter = *node.input(1)->type().const_dims();
  const bool constant = node.input(1)->is_constant();
  Writer p = ctx.AddLayer(node, "convolution", constant ? 1 : 2);
  p.Int("outputChannels", filter[0]);
  p.Int("kernelChannels", filter[1]);
  p.Int("nGroups", a.groups);
  p.Ints("kernelSize", {filter[2], filter[3]});
  p.Ints("stride", OrOnes(a.strides, 2));
  p.Ints("dilationFactor", OrOnes(a.dilations, 2));
  WritePadding(p, a.padding, a.pads);
  if (constant) WriteWeights(p.Sub("weights"), node.input(1)->constant());
  WriteBias(p, node);
  return {};
}

std::optional<std::string> WhyNotFilter(const Node& node, FilterLayout layout,
                                        FilterLayout needed) {
  if (layout != needed) return "the filter's axes are in another order";
  if (!node.input(1)->type().const_dims()) return "a filter whose size varies";
  if (node.input(2) != nullptr && !node.input(2)->is_constant())
    return "a bias that is no constant";
  return std::nullopt;
}

std::optional<std::string> WhyNotConv(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (auto reason = WhyNotFilter(node, a.filter_layout, FilterLayout::kOix)) return reason;
  if (auto reason = WhyNotPads(a.pads)) return reason;
  const int rank = node.input(0)->type().rank();
  if (rank == 5 && !node.input(1)->is_constant()) return "a filter that is no constant";
  if (node.input(2) != nullptr && !node.input(1)->is_constant())
    return "a bias beside a filter that is no constant";
  if (rank == 5 && a.padding == Padding::kSameLower) return "padding that is heavier at the begin";
  if (rank != 4 && rank != 5) return fmt::format("convolution over {} axes", rank - 2);
  return std::nullopt;
}

// ---- Transposed ---------------------------------------------------------------------------------

Status WriteConvTranspose(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  const std::vector<int64_t> filter = node.input(1)->constant().dims();
  Writer p = ctx.AddLayer(node, "convolution", 1);
  p.Bool("isDeconvolution", true);
  p.Int("outputChannels", filter[1] * a.groups);
  p.Int("kernelChannels", filter[0]);
  p.Int("nGroups", a.groups);
  p.Ints("kernelSize", {filter[2], filter[3]});
  p.Ints("stride", OrOnes(a.strides, 2));
  if (a.output_shape.empty()) {
    WritePadding(p, a.padding, a.pads);
  } else {
    WritePadding(p, Padding::kValid, {});
    p.Ints("outputShape", *ConstDims(a.output_shape));
  }
  WriteWeights(p.Sub("weights"), node.input(1)->constant());
  WriteBias(p, node);
  return {};
}

// An output size goes with padding in halves, the odd element at the end.
std::optional<std::string> WhyNotConvTranspose(const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  const auto is = [](int64_t n) { return [n](int64_t v) { return v == n; }; };
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (auto reason = WhyNotFilter(node, a.filter_layout, FilterLayout::kIox)) return reason;
  if (!node.input(1)->is_constant()) return "a filter that is no constant";
  if (auto reason = WhyNotPads(a.pads)) return reason;
  if (node.input(0)->type().rank() != 4)
    return fmt::format("transposed convolution over {} axes", node.input(0)->type().rank() - 2);
  if (!std::all_of(a.dilations.begin(), a.dilations.end(), is(1)))
    return "dilation of a transposed convolution";
  if (!std::all_of(a.output_padding.begin(), a.output_padding.end(), is(0)))
    return "output padding";
  if (a.output_shape.empty()) return std::nullopt;
  if (!ConstDims(a.output_shape)) return "an output size that varies";
  if (a.padding != Padding::kSameUpper) return "an output size with padding that is not in halves";
  return std::nullopt;
}

}  // namespace

void AddConvExports(std::vector<ExportRow>& rows) {
  rows.push_back({"conv", WriteConv, WhyNotConv});
  rows.push_back({"conv_transpose", WriteConvTranspose, WhyNotConvTranspose});
}

}  // namespace nn::coreml
