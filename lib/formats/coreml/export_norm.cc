#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "formats/coreml/export.h"
#include "formats/coreml/weights.h"
#include "ops/norm.h"
#include "ops/softmax.h"
#include "ops/types.h"

namespace nn::coreml {
namespace {

// An epsilon of 0 stands for another number, so it cannot be written.
constexpr std::string_view kNoEpsilon = "an epsilon of 0";

std::optional<std::string> WhyNotChannels(const Node& node, Layout layout, float epsilon) {
  if (layout != Layout::kNcx) return "channels are not first";
  const int rank = node.input(0)->type().rank();
  if (rank != 4) return fmt::format("a normalisation over {} axes", std::max(rank - 2, 0));
  if (!node.input(0)->type().dim(1).is_const()) return "a number of channels that varies";
  if (epsilon == 0) return std::string(kNoEpsilon);
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (ConstantOf(node, i) == nullptr) return "parameters that are no constants";
  return std::nullopt;
}

Writer WriteBatchnorm(ExportContext& ctx, const Node& node, float epsilon) {
  Writer p = ctx.AddLayer(node, "batchnorm", 1);
  p.Int("channels", node.input(0)->type().dim(1).value());
  p.Float("epsilon", epsilon);
  WriteWeights(p.Sub("gamma"), *ConstantOf(node, 1));
  WriteWeights(p.Sub("beta"), *ConstantOf(node, 2));
  return p;
}

Status WriteBatchNorm(ExportContext& ctx, const Node& node) {
  Writer p = WriteBatchnorm(ctx, node, node.attrs<BatchNormAttrs>().epsilon);
  WriteWeights(p.Sub("mean"), *ConstantOf(node, 3));
  WriteWeights(p.Sub("variance"), *ConstantOf(node, 4));
  return {};
}
std::optional<std::string> WhyNotBatchNorm(const Node& node) {
  const auto& a = node.attrs<BatchNormAttrs>();
  return WhyNotChannels(node, a.layout, a.epsilon);
}

Status WriteInstanceNorm(ExportContext& ctx, const Node& node) {
  Writer p = WriteBatchnorm(ctx, node, node.attrs<InstanceNormAttrs>().epsilon);
  p.Bool("computeMeanVar", true);
  p.Bool("instanceNormalization", true);
  return {};
}
std::optional<std::string> WhyNotInstanceNorm(const Node& node) {
  const auto& a = node.attrs<InstanceNormAttrs>();
  return WhyNotChannels(node, a.layout, a.epsilon);
}

// ---- layer_norm ---------------------------------------------------------------------------------

// The sizes of the axes that are normalised; nullopt if one varies.
std::optional<std::vector<int64_t>> NormalizedShape(const Node& node) {
  const Dims& dims = *node.input(0)->type().dims;
  const auto axis = NormalizeAxis(node.attrs<LayerNormAttrs>().axis, static_cast<int>(dims.size()));
  if (!axis) return std::nullopt;
  return ConstDims(Dims(dims.begin() + *axis, dims.end()));
}

void WriteFilled(Writer weights, const std::vector<int64_t>& shape, const Tensor* tensor,
                 float if_absent) {
  int64_t count = 1;
  for (const int64_t d : shape) count *= d;
  if (tensor != nullptr)
    WriteWeights(weights, *tensor);
  else
    WriteWeights(weights,
                 Tensor::Of({count}, std::vector<float>(static_cast<size_t>(count), if_absent)));
}

Status WriteLayerNorm(ExportContext& ctx, const Node& node) {
  const auto shape = *NormalizedShape(node);
  Writer p = ctx.AddLayer(node, "layerNormalization", {ctx.NameOf(node.input(0))},
                          {ctx.NameOf(node.output())});
  p.Ints("normalizedShape", shape);
  p.Float("eps", node.attrs<LayerNormAttrs>().epsilon);
  WriteFilled(p.Sub("gamma"), shape, ConstantOf(node, 1), 1);
  WriteFilled(p.Sub("beta"), shape, ConstantOf(node, 2), 0);
  return {};
}

std::optional<std::string> WhyNotLayerNorm(const Node& node) {
  const auto shape = NormalizedShape(node);
  if (!shape) return "a normalised axis whose size varies";
  if (CheckedElements(*shape).value_or(INT64_MAX) > int64_t{1} << 28) return "too many parameters";
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    if (node.input(i) == nullptr) continue;
    const Tensor* t = ConstantOf(node, i);
    if (t == nullptr) return "parameters that are no constants";
    if (t->dims() != *shape) return "parameters of another shape than what is normalised";
  }
  for (size_t i = 1; i < node.outputs().size(); ++i)
    if (!node.output(i)->uses().empty()) return "its mean or deviation as an output";
  return std::nullopt;
}

// ---- Others -------------------------------------------------------------------------------------

Status WriteLrn(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  Writer p = ctx.AddLayer(node, "lrn");
  p.Int("localSize", a.size);
  p.Float("alpha", a.alpha);
  p.Float("beta", a.beta);
  p.Float("k", a.bias);
  return {};
}
std::optional<std::string> WhyNotLrn(const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (node.input(0)->type().rank() != 4) return "channels that are not the third axis from the end";
  if (a.size > std::numeric_limits<int32_t>::max())
    return fmt::format("a window of {} channels", a.size);
  if (!(a.bias > 0)) return fmt::format("a bias of {}", a.bias);
  return std::nullopt;
}

// The axes of a row in ascending order, counted from the end.
std::vector<int64_t> FromEnd(std::vector<int64_t> axes, int rank) {
  if (axes.empty())
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  for (int64_t& a : axes)
    if (a >= 0) a -= rank;
  return axes;
}

Status WriteL2(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "l2normalize").Float("epsilon", node.attrs<L2NormalizationAttrs>().epsilon);
  return {};
}
std::optional<std::string> WhyNotL2(const Node& node) {
  const auto& a = node.attrs<L2NormalizationAttrs>();
  if (FromEnd(a.axes, node.input(0)->type().rank()) != std::vector<int64_t>{-3, -2, -1})
    return "other axes than the last three";
  if (a.epsilon_rule != EpsilonRule::kInside) return "an epsilon that is not added to the sum";
  return a.epsilon == 0 ? std::optional<std::string>(kNoEpsilon) : std::nullopt;
}

Status WriteMvn(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MeanVarianceNormalizationAttrs>();
  Writer p = ctx.AddLayer(node, "mvn");
  p.Bool("acrossChannels", FromEnd(a.axes, node.input(0)->type().rank()).size() == 3);
  p.Bool("normalizeVariance", a.normalize_variance);
  p.Float("epsilon", a.epsilon);
  return {};
}
std::optional<std::string> WhyNotMvn(const Node& node) {
  const auto& a = node.attrs<MeanVarianceNormalizationAttrs>();
  const int rank = node.input(0)->type().rank();
  const auto axes = FromEnd(a.axes, rank);
  if (rank < 3 ||
      (axes != std::vector<int64_t>{-3, -2, -1} && axes != std::vector<int64_t>{-2, -1}))
    return "other axes than the last two or three";
  if (a.normalize_variance && a.epsilon_rule != EpsilonRule::kInside)
    return "an epsilon that is not added to the variance";
  return a.epsilon == 0 ? std::optional<std::string>(kNoEpsilon) : std::nullopt;
}

Status WriteSoftmax(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "softmaxND").Int("axis", node.attrs<SoftmaxAttrs>().axis);
  return {};
}
std::optional<std::string> WhyNotSoftmax(const Node& node) {
  if (node.attrs<SoftmaxAttrs>().beta != 1) return "a factor before the exponentials";
  return std::nullopt;
}

}  // namespace

void AddNormExports(std::vector<ExportRow>& rows) {
  rows.push_back({"batch_norm", WriteBatchNorm, WhyNotBatchNorm});
  rows.push_back({"instance_norm", WriteInstanceNorm, WhyNotInstanceNorm});
  rows.push_back({"layer_norm", WriteLayerNorm, WhyNotLayerNorm});
  rows.push_back({"lrn", WriteLrn, WhyNotLrn});
  rows.push_back({"l2_normalization", WriteL2, WhyNotL2});
  rows.push_back({"mean_variance_normalization", WriteMvn, WhyNotMvn});
  rows.push_back({"softmax", WriteSoftmax, WhyNotSoftmax});
}

}  // namespace nn::coreml
