// Losses, which have no graph operators: they are imported as their definitions.
#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"

namespace nn::onnx {
namespace {

Result<Value*> SumOf(ImportContext& ctx, Value* v, std::string_view op = "reduce_sum") {
  return ctx.Add(op, {v}, ReduceAttrs{{}, false});
}

// -x[n, target, d...] * weight[target], and 0 where the target is ignore_index; reduced over all
// positions. The mean is relative to the sum of the weights.
Result<Value*> Loss(ImportContext& ctx, Value* x) {
  NN_ASSIGN(Value * target, ctx.Required(1));
  Value* weight = ctx.input(2);
  if (!x->type().ranked())
    return UnsupportedError("{} needs an input of known rank", ctx.node().op_type());
  if (x->type().rank() < 2)
    return ModelError("input 0 is {}; it must have rank 2 or more", x->type().ToString());
  Value* ignored = nullptr;
  if (ctx.HasAttr("ignore_index")) {
    NN_ASSIGN(Value* const index,
              ctx.Number(target->dtype(), static_cast<double>(ctx.Int("ignore_index", 0))));
    NN_ASSIGN(Value* const first, ctx.Number(target->dtype(), 0));
    NN_ASSIGN(ignored, ctx.Add("equal", {target, index}));
    NN_ASSIGN(target, ctx.Add("select", {ignored, first, target}));
  }
  NN_ASSIGN(Value* const places, ctx.Add("expand_dims", {target}, AxesAttrs{{1}}));
  NN_ASSIGN(Value * loss, ctx.Add("gather_elements", {x, places}, GatherElementsAttrs{1}));
  NN_ASSIGN(loss, ctx.Add("squeeze", {loss}, AxesAttrs{{1}}));
  NN_ASSIGN(loss, ctx.Add("neg", {loss}));
  if (weight != nullptr) {
    NN_ASSIGN(weight, ctx.Add("gather", {weight, target}, GatherAttrs{0, 0}));
  }
  if (ignored != nullptr) {
    NN_ASSIGN(Value* const none, ctx.Number(x->dtype(), 0));
    NN_ASSIGN(Value* const one, ctx.Number(x->dtype(), 1));
    NN_ASSIGN(weight, ctx.Add("select", {ignored, none, weight == nullptr ? one : weight}));
  }
  if (weight != nullptr) {
    NN_ASSIGN(loss, ctx.Add("mul", {loss, weight}));
  }
  const std::string reduction = ctx.String("reduction", "mean");
  if (reduction == "none") return loss;
  if (reduction == "sum") return SumOf(ctx, loss);
  if (reduction != "mean")
    return ModelError("attribute reduction is {}; must be none, sum or mean", Quote(reduction));
  if (weight == nullptr) return SumOf(ctx, loss, "reduce_mean");
  NN_ASSIGN(Value* const sum, SumOf(ctx, loss));
  NN_ASSIGN(Value* const weights, SumOf(ctx, weight));
  return ctx.Add("div", {sum, weights});
}

Status ImportNegativeLogLikelihoodLoss(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const y, Loss(ctx, x));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportSoftmaxCrossEntropyLoss(ImportContext& ctx) {
  NN_ASSIGN(Value* const scores, ctx.Required(0));
  NN_ASSIGN(Value* const x, ctx.Add("log_softmax", {scores}, AlongAxisAttrs{1}));
  NN_ASSIGN(Value* const y, Loss(ctx, x));
  ctx.SetOutput(0, y);
  ctx.SetOutput(1, x);
  return {};
}

constexpr ImportRow kLossImports[] = {
    {.op = "NegativeLogLikelihoodLoss", .since = 12, .import = ImportNegativeLogLikelihoodLoss},
    {.op = "SoftmaxCrossEntropyLoss", .since = 12, .import = ImportSoftmaxCrossEntropyLoss},
};

}  // namespace

Family LossFamily() {
  return {.imports = kLossImports};
}

}  // namespace nn::onnx
