#include <fmt/core.h>

#include "formats/coreml/import.h"
#include "formats/coreml/weights.h"
#include "ops/norm.h"
#include "ops/shape.h"
#include "ops/softmax.h"

namespace nn::coreml {
namespace {

Result<Value*> Filled(ImportContext& ctx, int64_t count, float value) {
  return ctx.Constant(Tensor::Of({count}, std::vector<float>(static_cast<size_t>(count), value)));
}

Status EmitSpatial(ImportContext& ctx, std::string_view op, std::vector<Value*> inputs,
                   Attrs attrs) {
  NN_ASSIGN(Value* const y, ctx.Add(op, std::move(inputs), std::move(attrs)));
  NN_ASSIGN(Value* const out, ctx.Unspatial(y, 0));
  ctx.SetOutput(0, out);
  return {};
}

// A factor or summand of each channel; absent ones are ones or zeros.
Result<Value*> PerChannel(ImportContext& ctx, std::string_view field, int64_t channels,
                          float if_absent) {
  if (!ctx.params().Has(field)) return Filled(ctx, channels, if_absent);
  return ctx.Weights(field, {channels});
}

Status ImportBatchnorm(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Spatial(0));
  NN_ASSIGN(const int64_t channels, p.Size("channels"));
  if (!(x->type().dim(1) == channels) && x->type().dim(1).is_const())
    return ModelError("{} channels for the input {}", channels, x->type().ToString());
  NN_ASSIGN(Value* const gamma, PerChannel(ctx, "gamma", channels, 1));
  NN_ASSIGN(Value* const beta, PerChannel(ctx, "beta", channels, 0));
  const float epsilon = p.FloatOr("epsilon", 1e-5f);
  if (p.Bool("computeMeanVar")) {
    if (!p.Bool("instanceNormalization"))
      return UnsupportedError("statistics over the whole batch");
    return EmitSpatial(ctx, "instance_norm", {x, gamma, beta}, InstanceNormAttrs{epsilon});
  }
  NN_ASSIGN(Value* const mean, ctx.Weights("mean", {channels}));
  NN_ASSIGN(Value* const variance, ctx.Weights("variance", {channels}));
  return EmitSpatial(ctx, "batch_norm", {x, gamma, beta, mean, variance}, BatchNormAttrs{epsilon});
}

// The last axes with the sizes that are stated.
Status ImportLayerNormalization(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  const auto shape = p.Ints("normalizedShape");
  const int rank = x->type().rank();
  if (shape.empty() || static_cast<int>(shape.size()) > rank)
    return ModelError("{} axes of an input of rank {}", shape.size(), rank);
  const auto axis = -static_cast<int64_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim& d = x->type().dim(rank + static_cast<int>(axis) + static_cast<int>(i));
    if (d.is_const() && d.value() != shape[i])
      return ModelError("normalizedShape {} for the input {}", ToString(ToDims(shape)),
                        x->type().ToString());
  }
  NN_ASSIGN(Value* const gamma, ctx.Weights("gamma", shape));
  NN_ASSIGN(Value* const beta, ctx.Weights("beta", shape));
  return ctx.Emit("layer_norm", {x, gamma, beta}, LayerNormAttrs{axis, p.Float("eps")});
}

Status ImportLrn(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Spatial(0));
  LrnAttrs a;
  NN_ASSIGN(a.size, p.Size("localSize"));
  a.alpha = p.Float("alpha");
  a.beta = p.Float("beta");
  a.bias = p.FloatOr("k", 1);
  return EmitSpatial(ctx, "lrn", {x}, a);
}

Status ImportL2Normalize(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Spatial(0));
  return EmitSpatial(
      ctx, "l2_normalization", {x},
      L2NormalizationAttrs{
          {-3, -2, -1}, ctx.params().FloatOr("epsilon", 1e-6f), EpsilonRule::kInside});
}

Status ImportMvn(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Spatial(0));
  MeanVarianceNormalizationAttrs a;
  a.axes = p.Bool("acrossChannels") ? std::vector<int64_t>{1, 2, 3} : std::vector<int64_t>{2, 3};
  a.normalize_variance = p.Bool("normalizeVariance");
  a.epsilon = p.FloatOr("epsilon", 1e-6f);
  return EmitSpatial(ctx, "mean_variance_normalization", {x}, std::move(a));
}

// Along the third axis from the end; along the only one of lower ranks.
Status ImportSoftmax(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  if (x->type().rank() < 3) return ModelError("its input has rank {}", x->type().rank());
  return ctx.Emit("softmax", {x}, SoftmaxAttrs{-3});
}

Status ImportSoftmaxNd(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  return ctx.Emit("softmax", {x}, SoftmaxAttrs{ctx.params().Int("axis")});
}

}  // namespace

void AddNormImports(ImportTable& t) {
  t["batchnorm"] = ImportBatchnorm;
  t["layerNormalization"] = ImportLayerNormalization;
  t["lrn"] = ImportLrn;
  t["l2normalize"] = ImportL2Normalize;
  t["mvn"] = ImportMvn;
  t["softmax"] = ImportSoftmax;
  t["softmaxND"] = ImportSoftmaxNd;
}

}  // namespace nn::coreml
