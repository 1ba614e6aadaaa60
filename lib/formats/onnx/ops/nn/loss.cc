// Losses, which have no graph operators: they are imported as their definitions.
#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "ir/text/number.h"
#include "ops/array/arrange/gather.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

Term SumOf(const Term& v, std::string_view op = "reduce_sum") {
  return Apply(op, {v}, ReduceAttrs{{}, false});
}

// -x[n, target, d...] * weight[target], and 0 where the target is ignore_index; reduced over all
// positions. The mean is relative to the sum of the weights.
Result<Term> Loss(const ImportContext& ctx, Value* x) {
  Value* const target = ctx.input(1);
  if (!x->type().ranked())
    return UnsupportedError("{} needs an input of known rank", ctx.node().op_type());
  if (x->type().rank() < 2)
    return ModelError("input 0 is {}; it must have rank 2 or more", x->type().ToString());
  Term ignored, labels = target;
  if (ctx.HasAttr("ignore_index")) {
    ignored = Equal(target, ctx.Int("ignore_index", 0));
    labels = Select(ignored, 0, target);
  }
  const Term picked =
      Apply("gather_elements", {x, ExpandDims(labels, {1})}, GatherElementsAttrs{1});
  Term loss = -Squeeze(picked, {1});
  Term weight = ctx.input(2);
  if (!weight.is_absent()) weight = Gather(weight, labels, 0);
  if (!ignored.is_absent()) {
    NN_ASSIGN(Tensor none, Number(x->dtype(), 0));
    weight = Select(ignored, std::move(none), weight.is_absent() ? Term(1) : weight);
  }
  if (!weight.is_absent()) loss = loss * weight;
  const std::string reduction = ctx.String("reduction", "mean");
  if (reduction == "none") return loss;
  if (reduction == "sum") return SumOf(loss);
  if (reduction != "mean")
    return ModelError("attribute reduction is {}; must be none, sum or mean", Quote(reduction));
  if (weight.is_absent()) return SumOf(loss, "reduce_mean");
  return SumOf(loss) / SumOf(weight);
}

Status ImportNegativeLogLikelihoodLoss(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Term y, Loss(ctx, x));
  return ctx.EmitTerm(y);
}

Status ImportSoftmaxCrossEntropyLoss(ImportContext& ctx) {
  Value* const scores = ctx.input(0);
  NN_ASSIGN(Value* const x, ctx.Add("log_softmax", {scores}, AlongAxisAttrs{1}));
  NN_ASSIGN(const Term y, Loss(ctx, x));
  ctx.SetOutput(1, x);
  return ctx.EmitTerm(y);
}

constexpr ImportRow kLossImports[] = {
    {.op = "NegativeLogLikelihoodLoss",
     .since = 12,
     .import = ImportNegativeLogLikelihoodLoss,
     .inputs = 2},
    {.op = "SoftmaxCrossEntropyLoss",
     .since = 12,
     .import = ImportSoftmaxCrossEntropyLoss,
     .inputs = 2},
};

}  // namespace

Family LossFamily() {
  return {.imports = kLossImports};
}

}  // namespace nn::onnx
