#include "formats/onnx/export.h"
#include "ops/norm.h"

namespace nn::onnx {
namespace {

std::optional<std::string> WhyNotLayout(const Node& node, Layout layout) {
  if (node.input(0)->type().quantised()) return "quantised operands";
  if (layout != Layout::kNcx) return "channels are not first";
  return std::nullopt;
}

Status WriteBatchNorm(ExportContext& ctx, const Node& node) {
  SetFloat(ctx.AddNode(node, "BatchNormalization"), "epsilon",
           node.attrs<BatchNormAttrs>().epsilon);
  return {};
}
std::optional<std::string> WhyNotBatchNorm(const Node& node) {
  return WhyNotLayout(node, node.attrs<BatchNormAttrs>().layout);
}

Status WriteInstanceNorm(ExportContext& ctx, const Node& node) {
  SetFloat(ctx.AddNode(node, "InstanceNormalization"), "epsilon",
           node.attrs<InstanceNormAttrs>().epsilon);
  return {};
}
std::optional<std::string> WhyNotInstanceNorm(const Node& node) {
  if (node.input(0)->type().rank() < 3) return "no spatial axes";
  return WhyNotLayout(node, node.attrs<InstanceNormAttrs>().layout);
}

bool IsPerGroup(const Node& node, size_t input) {
  const Dim& size = node.input(input)->type().dim(0);
  return size == node.attrs<GroupNormAttrs>().groups && !(size == node.input(0)->type().dim(1));
}

// One element for each group as one for each channel.
Result<std::string> PerChannel(ExportContext& ctx, const Node& node, size_t input) {
  const Value* v = node.input(input);
  const Dim groups = node.attrs<GroupNormAttrs>().groups;
  const Dim channels = node.input(0)->type().dim(1);
  NN_ASSIGN(const std::string column, ctx.AddDims({groups, 1}, "column"));
  NN_ASSIGN(const std::string table,
            ctx.AddDims({groups, Dim::FloorDiv(channels, groups)}, "table"));
  NN_ASSIGN(const std::string flat, ctx.AddDims({channels}, "flat"));
  const std::string columns = ctx.AddValue("Reshape", {ctx.NameOf(v), column}, v->name());
  const std::string expanded = ctx.AddValue("Expand", {columns, table}, v->name());
  return ctx.AddValue("Reshape", {expanded, flat}, v->name());
}

// Scale and bias are per group in version 18, per channel from 21 on.
Status WriteGroupNorm(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<GroupNormAttrs>();
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0))};
  for (const size_t i : {1, 2}) {
    inputs.push_back(ctx.NameOf(node.input(i)));
    if (ctx.opset() < 21 || !IsPerGroup(node, i)) continue;
    NN_ASSIGN(inputs.back(), PerChannel(ctx, node, i));
  }
  pb::NodeProto* out =
      ctx.AddNode(node, "GroupNormalization", std::move(inputs), {ctx.NameOf(node.output())});
  SetInt(out, "num_groups", a.groups);
  SetFloat(out, "epsilon", a.epsilon);
  return {};
}
// Statistics are computed in float32.
std::optional<std::string> WhyNotStash(const Node& node) {
  if (node.output()->dtype() == DType::kF64) return "f64 statistics";
  return std::nullopt;
}
std::optional<std::string> WhyNotGroupNorm(const Node& node) {
  if (auto why = WhyNotStash(node)) return why;
  return WhyNotLayout(node, node.attrs<GroupNormAttrs>().layout);
}

int64_t GroupNormOpset(const Node& node) {
  return IsPerGroup(node, 1) && IsPerGroup(node, 2) ? 18 : 21;
}

Status WriteRmsNorm(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<RmsNormAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "RMSNormalization");
  SetInt(out, "axis", a.axis);
  SetFloat(out, "epsilon", a.epsilon);
  return {};
}

std::optional<std::string> WhyNotRmsNorm(const Node& node) {
  if (node.input(1) == nullptr) return "no scale";
  return WhyNotStash(node);
}

Status WriteLayerNorm(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LayerNormAttrs>();
  std::vector<std::string> inputs, outputs;
  for (const Value* v : node.inputs()) inputs.push_back(ctx.NameOf(v));
  for (const Value* v : node.outputs()) outputs.push_back(ctx.NameOf(v));
  if (node.input(1) == nullptr) {  // scale is not optional
    NN_ASSIGN(TensorBuilder one, TensorBuilder::Create(node.output()->dtype(), {1}));
    one.SetDouble(0, 1);
    if (inputs.size() < 2) inputs.resize(2);
    inputs[1] = ctx.AddTensor(one.Finish(), "one");
  }
  pb::NodeProto* out =
      ctx.AddNode(node, "LayerNormalization", std::move(inputs), std::move(outputs));
  SetInt(out, "axis", a.axis);
  SetFloat(out, "epsilon", a.epsilon);
  return {};
}

Status WriteLrn(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "LRN");
  SetInt(out, "size", a.size);
  SetFloat(out, "alpha", a.alpha);
  SetFloat(out, "beta", a.beta);
  SetFloat(out, "bias", a.bias);
  return {};
}
std::optional<std::string> WhyNotLrn(const Node& node) {
  return WhyNotLayout(node, node.attrs<LrnAttrs>().layout);
}

Status WriteLpNormalization(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LpNormalizationAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "LpNormalization");
  SetInt(out, "axis", a.axis);
  SetInt(out, "p", a.p);
  return {};
}

Status WriteMeanVariance(ExportContext& ctx, const Node& node) {
  SetInts(ctx.AddNode(node, "MeanVarianceNormalization"), "axes",
          node.attrs<MeanVarianceNormalizationAttrs>().axes);
  return {};
}
std::optional<std::string> WhyNotMeanVariance(const Node& node) {
  const auto& a = node.attrs<MeanVarianceNormalizationAttrs>();
  if (!a.normalize_variance) return "the variance stays";
  if (a.epsilon_rule != EpsilonRule::kOutside || a.epsilon != 1e-9f)
    return "an epsilon other than 1e-9 beside the root";
  if (a.axes.empty()) return "its axes are not listed";
  return std::nullopt;
}

}  // namespace

void AddNormExports(std::vector<ExportRow>& rows) {
  rows.push_back({"batch_norm", WriteBatchNorm, WhyNotBatchNorm});
  rows.push_back({"instance_norm", WriteInstanceNorm, WhyNotInstanceNorm});
  rows.push_back({"group_norm", WriteGroupNorm, WhyNotGroupNorm, GroupNormOpset});
  rows.push_back({"layer_norm", WriteLayerNorm, WhyNotStash, Since<17>});
  rows.push_back({"rms_norm", WriteRmsNorm, WhyNotRmsNorm, Since<23>});
  rows.push_back({"lrn", WriteLrn, WhyNotLrn});
  rows.push_back({"lp_normalization", WriteLpNormalization});
  rows.push_back({"mean_variance_normalization", WriteMeanVariance, WhyNotMeanVariance, Since<9>});
}

}  // namespace nn::onnx
