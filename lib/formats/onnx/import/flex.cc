// FlexAttention of ai.onnx.preview: attention with subgraphs that change the scores and the
// weights. Without them it is the operator of the graph.
#include <cmath>
#include <utility>
#include <vector>

#include "formats/onnx/file/tensor.h"
#include "formats/onnx/import/heads.h"
#include "formats/onnx/import/importer.h"
#include "ops/math/matmul.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/softmax.h"
#include "ops/support/term_ops.h"

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
Result<Term> RootScaled(Value* v, float scale) {
  const Dim& size = v->type().dim(3);
  if (scale == 0 && (!size.is_const() || size.value() <= 0))
    return UnsupportedError("FlexAttention of heads of {} elements without a scale",
                            size.ToString());
  if (scale == 0) scale = 1 / std::sqrt(static_cast<float>(size.value()));
  return v * Term(std::sqrt(scale));
}

// Keys or values with a head for each head of q: adjacent heads of q share one.
Result<Term> ForEachHead(const Term& v, const Dim& own, const Dim& heads) {
  if (heads == own) return v;
  if (!heads.is_const() || !own.is_const())
    return UnsupportedError("FlexAttention of {} and {} heads", heads.ToString(), own.ToString());
  if (own.value() <= 0 || heads.value() % own.value() != 0)
    return ModelError("{} heads of Q cannot share {} heads", heads.value(), own.value());
  std::vector<int64_t> head_of(static_cast<size_t>(heads.value()));
  for (size_t i = 0; i < head_of.size(); ++i)
    head_of[i] = static_cast<int64_t>(i) / (heads.value() / own.value());
  return Gather(v, Vector(head_of), 1);
}

}  // namespace

Result<Value*> Importer::Modified(ImportContext& ctx, const Scope& scope, int index,
                                  std::string_view attribute, const Term& term) {
  NN_ASSIGN(Value* const v, ctx.Build(term));
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
  const Dim &heads = operands[0]->type().dim(1), &k_heads = operands[1]->type().dim(1),
            &v_heads = operands[2]->type().dim(1);
  NN_ASSIGN(const Term q, RootScaled(operands[0], scale));
  NN_ASSIGN(Term k, RootScaled(operands[1], scale));
  NN_ASSIGN(k, ForEachHead(k, k_heads, heads));
  NN_ASSIGN(const Term v, ForEachHead(operands[2], v_heads, heads));
  const Term products = Apply("matmul", {q, k}, MatmulAttrs{false, true});
  NN_ASSIGN(Value* const scores,
            Modified(ctx, scope, index, "score_mod", As(products, type, weights)));
  NN_ASSIGN(Value* const shares,
            Modified(ctx, scope, index, "prob_mod", Apply("softmax", {scores}, SoftmaxAttrs{})));
  return ctx.EmitTerm(As(Matmul(shares, As(v, type, weights)), weights, type));
}

}  // namespace nn::onnx
