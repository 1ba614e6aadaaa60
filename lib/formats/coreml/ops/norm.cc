#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "ops/array/shape.h"
#include "ops/nn/norm.h"
#include "ops/nn/softmax.h"
#include "ops/support/types.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// A per-channel factor or summand; absent ones are ones or zeros.
Result<Term> PerChannel(ImportContext& ctx, std::string_view field, int64_t channels,
                        float if_absent) {
  if (ctx.params().Has(field)) return ctx.Weights(field, {channels});
  return Term(Tensor::Of({channels}, std::vector<float>(static_cast<size_t>(channels), if_absent)));
}

Status ImportBatchnorm(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  NN_ASSIGN(const int64_t channels, p.Size("channels"));
  if (!(x->type().dim(1) == channels) && x->type().dim(1).is_const())
    return ModelError("channels is {}, but the input is {}", channels, x->type().ToString());
  NN_ASSIGN(const Term gamma, PerChannel(ctx, "gamma", channels, 1));
  NN_ASSIGN(const Term beta, PerChannel(ctx, "beta", channels, 0));
  const float epsilon = p.FloatOr("epsilon", 1e-5f);
  if (p.Bool("computeMeanVar")) {
    if (!p.Bool("instanceNormalization"))
      return UnsupportedError(
          "batchnorm with computeMeanVar and without instanceNormalization is unsupported");
    return ctx.EmitSpatial("instance_norm", {x, gamma, beta}, InstanceNormAttrs{epsilon});
  }
  NN_ASSIGN(Terms operands, ctx.WithWeights({x, gamma, beta}, {"mean", "variance"}, {channels}));
  return ctx.EmitSpatial("batch_norm", std::move(operands), BatchNormAttrs{epsilon});
}

// The last axes, which have the stated sizes.
Status ImportLayerNormalization(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  const auto shape = p.Ints("normalizedShape");
  const int rank = x->type().rank();
  if (shape.empty() || static_cast<int>(shape.size()) > rank)
    return ModelError("normalizedShape has {} entries for an input of rank {}", shape.size(), rank);
  const auto axis = -static_cast<int64_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim& d = x->type().dim(rank + static_cast<int>(axis) + static_cast<int>(i));
    if (d.is_const() && d.value() != shape[i])
      return ModelError("normalizedShape {} does not match the input {}", ToString(ToDims(shape)),
                        x->type().ToString());
  }
  NN_ASSIGN(const Terms operands, ctx.WithWeights({x}, {"gamma", "beta"}, shape));
  return ctx.Emit("layer_norm", operands, LayerNormAttrs{axis, p.Float("eps")});
}

Status ImportLrn(ImportContext& ctx) {
  const Fields& p = ctx.params();
  LrnAttrs a;
  NN_ASSIGN(a.size, p.Size("localSize"));
  a.alpha = p.Float("alpha");
  a.beta = p.Float("beta");
  a.bias = p.FloatOr("k", 1);
  return ctx.EmitSpatial("lrn", ctx.inputs(), a);
}

Status ImportL2Normalize(ImportContext& ctx) {
  return ctx.EmitSpatial(
      "l2_normalization", ctx.inputs(),
      L2NormalizationAttrs{
          {-3, -2, -1}, ctx.params().FloatOr("epsilon", 1e-6f), EpsilonRule::kInside});
}

Status ImportMvn(ImportContext& ctx) {
  const Fields& p = ctx.params();
  MeanVarianceNormalizationAttrs a;
  a.axes = p.Bool("acrossChannels") ? std::vector<int64_t>{1, 2, 3} : std::vector<int64_t>{2, 3};
  a.normalize_variance = p.Bool("normalizeVariance");
  a.epsilon = p.FloatOr("epsilon", 1e-6f);
  return ctx.EmitSpatial("mean_variance_normalization", ctx.inputs(), std::move(a));
}

// Along the third axis from the end, or the only axis of lower ranks.
Status ImportSoftmax(ImportContext& ctx) {
  if (const int rank = ctx.input(0)->type().rank(); rank < 3)
    return ModelError("the input must have rank 3 or more, not {}", rank);
  return ctx.Emit("softmax", ctx.inputs(), SoftmaxAttrs{-3});
}

Status ImportSoftmaxNd(ImportContext& ctx) {
  return ctx.Emit("softmax", ctx.inputs(), SoftmaxAttrs{ctx.params().Int("axis")});
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

// Core ML replaces an epsilon of 0 by a default, so it cannot be written.
constexpr std::string_view kNoEpsilon = "epsilon cannot be 0";

std::optional<std::string> WhyNotChannels(const Node& node, Layout layout, float epsilon) {
  const int rank = node.input(0)->type().rank();
  if (epsilon == 0) return std::string(kNoEpsilon);
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (ConstantOf(node, i) == nullptr) return "its parameters must be constant";
  if (rank != 4) return fmt::format("it must have 2 spatial axes, not {}", std::max(rank - 2, 0));
  // The layout can be changed, so it is the reason only if nothing else is.
  if (layout != Layout::kNcx) return "the channels must be axis 1";
  if (!node.input(0)->type().dim(1).is_const()) return "the number of channels must be constant";
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

// The sizes of the normalized axes; nullopt if one is dynamic.
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
  if (!shape) return "the normalized axes must have constant sizes";
  if (CheckedElements(*shape).value_or(INT64_MAX) > int64_t{1} << 28)
    return "it has more than 2^28 parameters";
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    if (node.input(i) == nullptr) continue;
    if (ConstantOf(node, i) == nullptr) return "its parameters must be constant";
  }
  if (node.outputs().size() > 1) return "layerNormalization has no outputs for mean and deviation";
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
  if (node.input(0)->type().rank() != 4) return "its rank must be 4";
  if (a.size > std::numeric_limits<int32_t>::max())
    return fmt::format("the window of {} channels must fit in 32 bits", a.size);
  if (!(a.bias > 0)) return fmt::format("the bias must be positive, not {}", a.bias);
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
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
    return "its axes must be the last three";
  if (a.epsilon_rule != EpsilonRule::kInside) return "epsilon must be added to the sum of squares";
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
  if (axes != std::vector<int64_t>{-3, -2, -1} && axes != std::vector<int64_t>{-2, -1})
    return "its axes must be the last two or three";
  if (a.normalize_variance && a.epsilon_rule != EpsilonRule::kInside)
    return "epsilon must be added to the variance";
  return a.epsilon == 0 ? std::optional<std::string>(kNoEpsilon) : std::nullopt;
}

Status WriteSoftmax(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "softmaxND").Int("axis", node.attrs<SoftmaxAttrs>().axis);
  return {};
}
std::optional<std::string> WhyNotSoftmax(const Node& node) {
  if (node.attrs<SoftmaxAttrs>().beta != 1) return "beta must be 1";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kNormImports[] = {
    {.layer = "batchnorm", .import = ImportBatchnorm, .inputs = "s"},
    {.layer = "layerNormalization", .import = ImportLayerNormalization, .inputs = "f"},
    {.layer = "lrn", .import = ImportLrn, .inputs = "s"},
    {.layer = "l2normalize", .import = ImportL2Normalize, .inputs = "s"},
    {.layer = "mvn", .import = ImportMvn, .inputs = "s"},
    {.layer = "softmax", .import = ImportSoftmax, .inputs = "f"},
    {.layer = "softmaxND", .import = ImportSoftmaxNd, .inputs = "f"},
};

constexpr ExportRow kNormExports[] = {
    {.op = "batch_norm", .write = WriteBatchNorm, .why_not = WhyNotBatchNorm},
    {.op = "instance_norm", .write = WriteInstanceNorm, .why_not = WhyNotInstanceNorm},
    {.op = "layer_norm", .write = WriteLayerNorm, .why_not = WhyNotLayerNorm},
    {.op = "lrn", .write = WriteLrn, .why_not = WhyNotLrn},
    {.op = "l2_normalization", .write = WriteL2, .why_not = WhyNotL2},
    {.op = "mean_variance_normalization", .write = WriteMvn, .why_not = WhyNotMvn},
    {.op = "softmax", .write = WriteSoftmax, .why_not = WhyNotSoftmax},
};

}  // namespace

Family NormFamily() {
  return {.imports = kNormImports, .exports = kNormExports};
}

}  // namespace nn::coreml
