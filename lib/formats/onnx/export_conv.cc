#include <fmt/core.h>

#include <algorithm>

#include "formats/onnx/export.h"
#include "formats/onnx/window_attrs.h"
#include "ops/conv.h"
#include "ops/conv_transpose.h"

namespace nn::onnx {
namespace {

Status WriteConv(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "Conv");
  const auto filter = node.input(1)->type().const_dims();
  if (filter) SetInts(out, "kernel_shape", {filter->begin() + 2, filter->end()});
  SetWindow(out, a);
  if (a.groups != 1) SetInt(out, "group", a.groups);
  return {};
}

std::optional<std::string> WhyNotConv(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  if (node.output()->type().quantised()) return "quantised convolution";
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (a.filter_layout != FilterLayout::kOix) return "the filter's axes are in another order";
  return std::nullopt;
}

// Whether a transposed convolution may have the output padding: less than a step.
bool MayAdd(int64_t output_padding, int64_t stride, int64_t dilation) {
  return output_padding <= 0 || output_padding < std::max(stride, dilation);
}

// Pads and output padding that give an output_shape with given begins; nullopt if there are none.
struct ExplicitPads {
  std::vector<int64_t> pads, output_padding;
};
std::optional<ExplicitPads> PadsFor(const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  const auto resolved =
      ConvTransposeWindows(a, *node.input(0)->type().dims, *node.input(1)->type().dims);
  if (!resolved) return std::nullopt;
  const auto windows = ConstWindows(*resolved);
  if (!windows) return std::nullopt;
  ExplicitPads p;
  for (const ConstWindow& w : *windows) {
    if (w.pad_begin < 0) return std::nullopt;
    p.pads.push_back(w.pad_begin);
  }
  for (size_t i = 0; i < windows->size(); ++i) {
    const int64_t end = (*windows)[i].pad_end;
    p.pads.push_back(std::max<int64_t>(0, end));
    p.output_padding.push_back((a.output_padding.empty() ? 0 : a.output_padding[i]) +
                               std::max<int64_t>(0, -end));
    if (!MayAdd(p.output_padding.back(), (*windows)[i].stride, (*windows)[i].dilation))
      return std::nullopt;
  }
  return p;
}

bool HasExplicitBegins(const ConvTransposeAttrs& a) {
  return a.padding == Padding::kExplicit || a.padding == Padding::kValid;
}

Status WriteConvTranspose(ExportContext& ctx, const Node& node) {
  ConvTransposeAttrs a = node.attrs<ConvTransposeAttrs>();
  if (!a.output_shape.empty() && HasExplicitBegins(a)) {
    ExplicitPads p = *PadsFor(node);
    a.padding = Padding::kExplicit;
    a.pads = std::move(p.pads);
    a.output_padding = std::move(p.output_padding);
    a.output_shape.clear();
  }
  pb::NodeProto* out = ctx.AddNode(node, "ConvTranspose");
  if (const auto filter = node.input(1)->type().const_dims())
    SetInts(out, "kernel_shape", {filter->begin() + 2, filter->end()});
  SetWindow(out, a);
  if (a.groups != 1) SetInt(out, "group", a.groups);
  if (!a.output_padding.empty()) SetInts(out, "output_padding", a.output_padding);
  if (!a.output_shape.empty()) SetInts(out, "output_shape", *ConstDims(a.output_shape));
  return {};
}

std::optional<std::string> WhyNotConvTranspose(const Node& node) {
  const auto& a = node.attrs<ConvTransposeAttrs>();
  if (node.output()->type().quantised()) return "quantised transposed convolution";
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (a.filter_layout != FilterLayout::kIox) return "the filter's axes are in another order";
  const auto step = [](const std::vector<int64_t>& list, size_t i) {
    return i < list.size() ? list[i] : 1;
  };
  for (size_t i = 0; i < a.output_padding.size(); ++i)
    if (!MayAdd(a.output_padding[i], step(a.strides, i), step(a.dilations, i)))
      return fmt::format("an output padding of {} at a stride of {}", a.output_padding[i],
                         step(a.strides, i));
  if (a.output_shape.empty()) return std::nullopt;
  if (!ConstDims(a.output_shape)) return "its output size is not known";
  if (HasExplicitBegins(a) && !PadsFor(node)) return "no pads give its output size";
  return std::nullopt;
}

}  // namespace

void AddConvExports(std::vector<ExportRow>& rows) {
  rows.push_back({"conv", WriteConv, WhyNotConv});
  rows.push_back({"conv_transpose", WriteConvTranspose, WhyNotConvTranspose});
}

}  // namespace nn::onnx
