#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "formats/coreml/export.h"
#include "formats/coreml/window.h"
#include "ops/pool.h"

namespace nn::coreml {
namespace {

void WritePool3d(Writer p, const PoolAttrs& a) {
  constexpr std::array kAxes = {"Depth", "Height", "Width"};
  constexpr std::array kSides = {"Front", "Top", "Left", "Back", "Bottom", "Right"};
  const auto strides = OrOnes(a.strides, 3);
  for (size_t i = 0; i < kAxes.size(); ++i) {
    p.Int(std::string("kernel") + kAxes[i], a.kernel[i]);
    p.Int(std::string("stride") + kAxes[i], strides[i]);
  }
  if (a.padding == Padding::kSameUpper) {
    p.Enum("paddingType", "SAME");
  } else if (a.padding == Padding::kValid || a.pads.empty()) {
    p.Enum("paddingType", "VALID");
  } else {
    p.Enum("paddingType", "CUSTOM");
    for (size_t i = 0; i < kSides.size(); ++i)
      p.Int(std::string("customPadding") + kSides[i], a.pads[i]);
  }
}

Status WritePool(ExportContext& ctx, const Node& node, std::string_view type, const PoolAttrs& a,
                 bool exclude_padding) {
  if (a.kernel.size() == 3) {
    Writer p = ctx.AddLayer(node, "pooling3d");
    p.Enum("type", type);
    WritePool3d(p, a);
    p.Bool("countExcludePadding", exclude_padding);
    return {};
  }
  Writer p = ctx.AddLayer(node, "pooling");
  p.Enum("type", type);
  p.Ints("kernelSize", a.kernel);
  p.Ints("stride", OrOnes(a.strides, 2));
  if (a.ceil_mode) {
    const auto pads = a.pads.empty() ? std::vector<int64_t>(4, 0) : a.pads;
    p.Sub("includeLastPixel").Ints("paddingAmounts", {pads[0], pads[1]});
  } else {
    WritePadding(p, a.padding, a.pads);
  }
  p.Bool("avgPoolExcludePadding", exclude_padding);
  return {};
}

Status WriteMaxPool(ExportContext& ctx, const Node& node) {
  return WritePool(ctx, node, "MAX", node.attrs<MaxPoolAttrs>(), false);
}
Status WriteAveragePool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  return WritePool(ctx, node, "AVERAGE", a, !a.count_include_pad);
}
Status WriteLpPool(ExportContext& ctx, const Node& node) {
  return WritePool(ctx, node, "L2", node.attrs<LpPoolAttrs>(), false);
}

// includeLastPixel has the same padding on both sides. Without padding it keeps a last window that
// starts beyond the input, which the graph drops.
std::optional<std::string> WhyNotCeil(const Node& node, const PoolAttrs& a) {
  if (a.padding == Padding::kSameUpper || a.padding == Padding::kSameLower) return std::nullopt;
  const auto strides = OrOnes(a.strides, 2);
  bool padded = false;
  for (size_t i = 0; i < a.pads.size() / 2; ++i) {
    if (a.pads[i] != a.pads[a.pads.size() / 2 + i]) return "uneven padding and a rounded-up size";
    padded |= a.pads[i] > 0;
  }
  if (padded) return std::nullopt;
  for (size_t i = 0; i < a.kernel.size(); ++i) {
    const Dim& size = node.input(0)->type().dim(2 + static_cast<int>(i));
    const bool exact = size.is_const() && (size.value() - a.kernel[i]) % strides[i] == 0;
    if (strides[i] > a.kernel[i] && !exact)
      return "a rounded-up size with strides above the kernel";
  }
  return std::nullopt;
}

std::optional<std::string> WhyNotPool(const Node& node, const PoolAttrs& a) {
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (node.outputs().size() > 1) return "the places of the maxima";
  if (std::any_of(a.dilations.begin(), a.dilations.end(), [](int64_t d) { return d != 1; }))
    return "dilation of a pool";
  if (auto reason = WhyNotPads(a.pads)) return reason;
  const int rank = node.input(0)->type().rank();
  if (rank != 4 && rank != 5) return fmt::format("pooling over {} axes", rank - 2);
  if (rank == 5 && a.ceil_mode) return "a rounded-up size of three axes";
  if (rank == 5 && a.padding == Padding::kSameLower) return "padding that is heavier at the begin";
  return a.ceil_mode ? WhyNotCeil(node, a) : std::nullopt;
}

std::optional<std::string> WhyNotMaxPool(const Node& node) {
  return WhyNotPool(node, node.attrs<MaxPoolAttrs>());
}
std::optional<std::string> WhyNotAveragePool(const Node& node) {
  return WhyNotPool(node, node.attrs<AveragePoolAttrs>());
}
std::optional<std::string> WhyNotLpPool(const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  if (a.average || a.p != 2) return "a pool of powers other than the root of squares";
  if (a.kernel.size() == 3) return "an L2 pool over three axes";
  return WhyNotPool(node, a);
}

}  // namespace

void AddPoolExports(std::vector<ExportRow>& rows) {
  rows.push_back({"max_pool", WriteMaxPool, WhyNotMaxPool});
  rows.push_back({"average_pool", WriteAveragePool, WhyNotAveragePool});
  rows.push_back({"lp_pool", WriteLpPool, WhyNotLpPool});
}

}  // namespace nn::coreml
