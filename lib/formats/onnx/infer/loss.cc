// Type inference of losses.
#include "formats/onnx/infer/infer.h"

namespace nn::onnx {
namespace {

// [N, C, ...] against [N, ...], weights [C]; without reduction the loss is [N, ...].
Status InferNegativeLogLikelihoodLoss(TypeContext& ctx) {
  const bool none = ctx.node().String("reduction", "mean") == "none";
  const Dims* x = ctx.dims(0);
  const Dims* target = ctx.dims(1);
  if (x == nullptr || target == nullptr) {
    ctx.Set(0, ctx.dtype(0), none ? std::nullopt : std::optional(Dims{}));
    return {};
  }
  if (x->size() < 2)
    return ModelError("input 0 is {}; it must have rank 2 or more", ctx.in(0).ToString());
  if (target->size() != x->size() - 1)
    return ModelError("target {} does not match input {}", ctx.in(1).ToString(),
                      ctx.in(0).ToString());
  Dims loss;
  for (size_t i = 0; i < target->size(); ++i) {
    NN_ASSIGN(Dim d, ctx.Same((*target)[i], (*x)[i == 0 ? 0 : i + 1], "target and input"));
    loss.push_back(std::move(d));
  }
  if (const Dims* weight = ctx.dims(2)) {
    NN_RETURN_IF_ERROR(ctx.CheckRank(2, 1));
    NN_RETURN_IF_ERROR(ctx.Same((*weight)[0], (*x)[1], "weights and classes"));
  }
  ctx.Set(0, ctx.dtype(0), none ? loss : Dims{});
  return {};
}

Status InferSoftmaxCrossEntropyLoss(TypeContext& ctx) {
  const bool none = ctx.node().String("reduction", "mean") == "none";
  ctx.Set(0, ctx.dtype(0), none ? ctx.in(1).tensor.dims : TypeDims(Dims{}));
  ctx.Like(1, 0);
  return {};
}

}  // namespace

void AddLossInferences(InferTable& t) {
  t.Add("", "NegativeLogLikelihoodLoss", 12, InferNegativeLogLikelihoodLoss);
  t.Add("", "SoftmaxCrossEntropyLoss", 12, InferSoftmaxCrossEntropyLoss);
}

}  // namespace nn::onnx
