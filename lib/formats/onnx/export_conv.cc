#include "formats/onnx/export.h"
#include "ops/conv.h"

namespace nn::onnx {
namespace {

std::string_view AutoPadName(Padding padding) {
  switch (padding) {
    case Padding::kValid: return "VALID";
    case Padding::kSameUpper: return "SAME_UPPER";
    case Padding::kSameLower: return "SAME_LOWER";
    default: return "NOTSET";
  }
}

Status WriteConv(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "Conv");
  const auto filter = node.input(1)->type().const_dims();
  if (filter) SetInts(out, "kernel_shape", {filter->begin() + 2, filter->end()});
  if (!a.strides.empty()) SetInts(out, "strides", a.strides);
  if (!a.dilations.empty()) SetInts(out, "dilations", a.dilations);
  if (a.groups != 1) SetInt(out, "group", a.groups);
  if (a.padding != Padding::kExplicit)
    SetString(out, "auto_pad", AutoPadName(a.padding));
  else if (!a.pads.empty())
    SetInts(out, "pads", a.pads);
  return {};
}

std::optional<std::string> WhyNotConv(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  if (node.output()->type().quantised()) return "quantised convolution";
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (a.filter_layout != FilterLayout::kOix) return "the filter's axes are in another order";
  return std::nullopt;
}

}  // namespace

void AddConvExports(std::vector<ExportRow>& rows) {
  rows.push_back({"conv", WriteConv, WhyNotConv});
}

}  // namespace nn::onnx
