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

std::optional<std::string> WhyNotGroupNorm(const Node&) { return "needs operator set 21"; }
std::optional<std::string> WhyNotRmsNorm(const Node&) { return "needs operator set 23"; }

Status WriteNever(ExportContext&, const Node& node) {
  return InternalError("{} was not legalised for ONNX", node.Describe());
}

Status WriteLayerNorm(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LayerNormAttrs>();
  if (ctx.opset() < 17)
    return UnsupportedError("{}: LayerNormalization needs operator set 17", node.Describe());
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
std::optional<std::string> WhyNotLayerNorm(const Node& node) {
  if (node.output()->dtype() == DType::kF64) return "f64 statistics";
  return std::nullopt;
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
  if (ctx.opset() < 9)
    return UnsupportedError("{}: MeanVarianceNormalization needs operator set 9", node.Describe());
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
  rows.push_back({"group_norm", WriteNever, WhyNotGroupNorm});
  rows.push_back({"layer_norm", WriteLayerNorm, WhyNotLayerNorm});
  rows.push_back({"rms_norm", WriteNever, WhyNotRmsNorm});
  rows.push_back({"lrn", WriteLrn, WhyNotLrn});
  rows.push_back({"lp_normalization", WriteLpNormalization});
  rows.push_back({"mean_variance_normalization", WriteMeanVariance, WhyNotMeanVariance});
}

}  // namespace nn::onnx
