#include <algorithm>
#include <cmath>

#include "formats/onnx/export.h"
#include "formats/onnx/window_attrs.h"
#include "ops/pool.h"

namespace nn::onnx {
namespace {

bool Dilated(const PoolAttrs& a) {
  return std::any_of(a.dilations.begin(), a.dilations.end(), [](int64_t d) { return d != 1; });
}

// Writes what all pools have.
pb::NodeProto* WritePool(ExportContext& ctx, const Node& node, std::string_view op, PoolAttrs a) {
  if (!Dilated(a)) a.dilations.clear();
  pb::NodeProto* out = ctx.AddNode(node, op);
  SetInts(out, "kernel_shape", a.kernel);
  SetWindow(out, a);
  if (a.ceil_mode) SetInt(out, "ceil_mode", 1);
  return out;
}

Status WriteMaxPool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MaxPoolAttrs>();
  pb::NodeProto* out = WritePool(ctx, node, "MaxPool", a);
  if (a.storage_order != 0) SetInt(out, "storage_order", a.storage_order);
  return {};
}

Status WriteAveragePool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  pb::NodeProto* out = WritePool(ctx, node, "AveragePool", a);
  if (a.count_include_pad) SetInt(out, "count_include_pad", 1);
  return {};
}

Status WriteLpPool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  SetInt(WritePool(ctx, node, "LpPool", a), "p", static_cast<int64_t>(a.p));
  return {};
}

std::optional<std::string> WhyNotPool(const Node& node, const PoolAttrs& a) {
  if (node.input(0)->type().quantised()) return "quantised pooling";
  if (a.layout != Layout::kNcx) return "channels are not first";
  return std::nullopt;
}

std::optional<std::string> WhyNotMaxPool(const Node& node) {
  return WhyNotPool(node, node.attrs<MaxPoolAttrs>());
}
std::optional<std::string> WhyNotAveragePool(const Node& node) {
  return WhyNotPool(node, node.attrs<AveragePoolAttrs>());
}
std::optional<std::string> WhyNotLpPool(const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  if (a.average) return "the mean of powers";
  if (a.p != std::floor(a.p)) return fmt::format("p = {} is not an integer", a.p);
  return WhyNotPool(node, a);
}

int64_t MaxPoolOpset(const Node& node) {
  const auto& a = node.attrs<MaxPoolAttrs>();
  if (Dilated(a) || a.ceil_mode) return 10;
  return node.outputs().size() > 1 || a.storage_order != 0 ? 8 : 1;
}
int64_t AveragePoolOpset(const Node& node) {
  const auto& a = node.attrs<AveragePoolAttrs>();
  if (Dilated(a)) return 19;
  return a.ceil_mode ? 10 : 7;
}
int64_t LpPoolOpset(const Node& node) {
  const auto& a = node.attrs<LpPoolAttrs>();
  return Dilated(a) || a.ceil_mode ? 18 : 2;
}

Status WriteMaxUnpool(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MaxUnpoolAttrs>();
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0)), ctx.NameOf(node.input(1))};
  if (node.input(2) != nullptr)
    inputs.push_back(ctx.NameOf(node.input(2)));
  else if (!a.output_shape.empty())
    inputs.push_back(ctx.AddTensor(Tensor::Ints(*node.output()->type().const_dims()), "shape"));
  pb::NodeProto* out =
      ctx.AddNode(node, "MaxUnpool", std::move(inputs), {ctx.NameOf(node.output())});
  SetInts(out, "kernel_shape", a.kernel);
  if (!a.strides.empty()) SetInts(out, "strides", a.strides);
  if (!a.pads.empty()) SetInts(out, "pads", a.pads);
  return {};
}

std::optional<std::string> WhyNotMaxUnpool(const Node& node) {
  const auto& a = node.attrs<MaxUnpoolAttrs>();
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (!a.output_shape.empty() && !node.output()->type().const_dims())
    return "its output size is not known";
  return std::nullopt;
}

}  // namespace

void AddPoolExports(std::vector<ExportRow>& rows) {
  rows.push_back({"max_pool", WriteMaxPool, WhyNotMaxPool, MaxPoolOpset});
  rows.push_back({"average_pool", WriteAveragePool, WhyNotAveragePool, AveragePoolOpset});
  rows.push_back({"lp_pool", WriteLpPool, WhyNotLpPool, LpPoolOpset});
  rows.push_back({"max_unpool", WriteMaxUnpool, WhyNotMaxUnpool, Since<9>});
}

}  // namespace nn::onnx
