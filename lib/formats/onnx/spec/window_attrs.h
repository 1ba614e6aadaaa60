// Attributes of sliding windows, shared by ONNX's convolutions and pools.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/onnx/export/export.h"
#include "formats/onnx/import/import.h"
#include "ops/nn/conv.h"
#include "ops/support/window.h"

namespace nn::onnx {

// auto_pad.
Result<Padding> ReadAutoPad(const ImportContext& ctx);

// kModel if the attribute kernel_shape, which repeats the spatial axes of a filter, from axis
// `first` on, does not agree with it.
Status CheckKernelShape(const ImportContext& ctx, const Value* filter, size_t first = 2);

// strides, dilations, and padding from auto_pad or pads.
template <typename A>
Status ReadWindow(const ImportContext& ctx, A& a) {
  a.strides = ctx.Ints("strides");
  a.dilations = ctx.Ints("dilations");
  NN_ASSIGN(a.padding, ReadAutoPad(ctx));
  if (a.padding == Padding::kExplicit) a.pads = ctx.Ints("pads");
  return {};
}

// auto_pad or pads; no attribute if there is no padding.
void SetPadding(pb::NodeProto* node, Padding padding, const std::vector<int64_t>& pads);

// The pads of SAME, all begins and then all ends, that runtimes do not derive from auto_pad: ONNX
// Runtime refuses dilations there, and subtracts from windows that are smaller than their stride.
// nullopt for other windows, and where open sizes determine the pads.
std::optional<std::vector<int64_t>> PadsToState(Padding padding,
                                                const Result<std::vector<Window>>& windows);

// The same attributes for export.
template <typename A>
void SetWindow(pb::NodeProto* node, const A& a) {
  if (!a.strides.empty()) SetInts(node, "strides", a.strides);
  if (!a.dilations.empty()) SetInts(node, "dilations", a.dilations);
  SetPadding(node, a.padding, a.pads);
}

// With the pads of `windows` where auto_pad would not do.
template <typename A>
void SetWindow(pb::NodeProto* node, A a, const Result<std::vector<Window>>& windows) {
  if (auto pads = PadsToState(a.padding, windows)) {
    a.padding = Padding::kExplicit;
    a.pads = *std::move(pads);
  }
  SetWindow(node, a);
}

void SetConvWindow(pb::NodeProto* out, const Node& node, const ConvAttrs& a);

}  // namespace nn::onnx
