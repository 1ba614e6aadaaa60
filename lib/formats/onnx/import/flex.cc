// FlexAttention of ai.onnx.preview: attention with subgraphs that change the scores and the
// weights. Without them it is the operator of the graph.
#include <cmath>
#include <utility>
#include <vector>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/import/heads.h"
#include "formats/onnx/import/importer.h"
#include "ops/array/arrange/gather.h"
#include "ops/math/matmul.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/softmax.h"

namespace nn::onnx {
namespace {

// The type of scores and weights.
Result<DType> WeightType(const ImportContext& ctx, DType operands) {
  if (!ctx.HasAttr("softmax_precision")) return operands == DType::kF64 ? DType::kF64 : DType::kF32;
  const int64_t code = ctx.Int("softmax_precision", 0);
  const DType type = DTypeOf(static_cast<int>(code));
  if (!IsFloat(type) || DTypeBits(type) < 16)
    return ModelError("softmax_precision is {}; it must be a type of floats", code);
  return type;
}

// The scale of the scores; 0 stands for the default, 1 / sqrt(E).
Result<float> ScoreScale(const ImportContext& ctx) {
  if (!ctx.HasAttr("scale")) return 0.0f;
  const float scale = ctx.Float("scale", 0);
  if (!(scale > 0) || !std::isfinite(scale))
    return UnsupportedError("FlexAttention with a scale of {}, whose root scales Q and K", scale);
  return scale;
}

// The value times the root of the scale.
Result<Value*> RootScaled(ImportContext& ctx, Value* v, float scale) {
  const Dim& size = v->type().dim(3);
  if (scale == 0 && (!size.is_const() || size.value() <= 0))
    return UnsupportedError("FlexAttention of heads of {} elements without a scale",
                            size.ToString());
  if (scale == 0) scale = 1 / std::sqrt(static_cast<float>(size.value()));
  NN_ASSIGN(Value* const factor, ctx.Number(v->dtype(), static_cast<double>(std::sqrt(scale))));
  return ctx.Add("mul", {v, factor});
}

// Keys or values with a head for each head of q: adjacent heads of q share one.
Result<Value*> ForEachHead(ImportContext& ctx, Value* v, const Value* q) {
  const Dim& heads = q->type().dim(1);
  const Dim& own = v->type().dim(1);
  if (heads == own) return v;
  if (!heads.is_const() || !own.is_const())
    return UnsupportedError("FlexAttention of {} and {} heads", heads.ToString(), own.ToString());
  if (own.value() <= 0 || heads.value() % own.value() != 0)
    return ModelError("{} heads of Q cannot share {} heads", heads.value(), own.value());
  std::vector<int64_t> head_of(static_cast<size_t>(heads.value()));
  for (size_t i = 0; i < head_of.size(); ++i)
    head_of[i] = static_cast<int64_t>(i) / (heads.value() / own.value());
  return ctx.Add("gather", {v, ctx.Constant(Tensor::Ints(head_of))}, GatherAttrs{1, 0});
}

}  // namespace

Result<Value*> Importer::Modified(ImportContext& ctx, const Scope& scope, int index,
                                  std::string_view attribute, Value* v) {
  if (!ctx.HasAttr(attribute)) return v;
  NN_ASSIGN(const Body body, BodyOf(ctx, scope, index, attribute, 1, 1));
  const size_t unsupported = unsupported_.size();
  NN_ASSIGN(const auto results, RunBody(body, std::vector<Value*>{v}));
  if (unsupported_.size() > unsupported) return UnsupportedError("{} is unsupported", attribute);
  const Type &given = v->type(), &type = results[0]->type();
  if (type.dtype != given.dtype || (type.ranked() && type.rank() != 4))
    return ModelError("{} returns {} for {}", attribute, type.ToString(), given.ToString());
  return results[0];
}

Status Importer::ImportFlexAttention(ImportContext& ctx, const Scope& scope, int index) {
  std::vector<Value*> operands;
  for (const auto& [i, name] : {std::pair(0, "Q"), std::pair(1, "K"), std::pair(2, "V")}) {
    NN_ASSIGN(Value* const v, ctx.Required(static_cast<size_t>(i)));
    NN_RETURN_IF_ERROR(RequireRanks(ctx, v, name, 4, 4));
    if (i > 0 && v->dtype() != operands[0]->dtype())
      return ModelError("Q is {}, and {} {}; they must have one type",
                        operands[0]->type().ToString(), name, v->type().ToString());
    operands.push_back(v);
  }
  const DType type = operands[0]->dtype();
  NN_ASSIGN(const DType weights, WeightType(ctx, type));
  NN_ASSIGN(const float scale, ScoreScale(ctx));
  const bool is_wide = weights == (type == DType::kF64 ? DType::kF64 : DType::kF32);
  if (is_wide && !ctx.HasAttr("score_mod") && !ctx.HasAttr("prob_mod"))
    return ctx.Emit("attention", std::move(operands), AttentionAttrs{.scale = scale});
  NN_ASSIGN(Value* const q, RootScaled(ctx, operands[0], scale));
  NN_ASSIGN(Value * k, RootScaled(ctx, operands[1], scale));
  NN_ASSIGN(k, ForEachHead(ctx, k, q));
  NN_ASSIGN(Value * v, ForEachHead(ctx, operands[2], q));
  NN_ASSIGN(Value * y, ctx.Add("matmul", {q, k}, MatmulAttrs{false, true}));
  NN_ASSIGN(y, AddCast(ctx, y, weights));
  NN_ASSIGN(y, Modified(ctx, scope, index, "score_mod", y));
  NN_ASSIGN(y, ctx.Add("softmax", {y}, SoftmaxAttrs{}));
  NN_ASSIGN(y, Modified(ctx, scope, index, "prob_mod", y));
  NN_ASSIGN(v, AddCast(ctx, v, weights));
  NN_ASSIGN(y, ctx.Add("matmul", {y, v}, MatmulAttrs{}));
  NN_ASSIGN(y, AddCast(ctx, y, type));
  ctx.SetOutput(0, y);
  return {};
}

}  // namespace nn::onnx
