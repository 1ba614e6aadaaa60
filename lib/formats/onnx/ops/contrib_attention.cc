// Attention operators of com.microsoft.
#include <cmath>
#include <utility>
#include <vector>

#include "formats/onnx/family.h"
#include "formats/onnx/heads.h"
#include "ops/array/gather.h"
#include "ops/array/shape.h"
#include "ops/array/slice.h"
#include "ops/math/elementwise.h"
#include "ops/nn/attention.h"
#include "ops/nn/rotary_embedding.h"

namespace nn::onnx {
namespace {

// ---- MultiHeadAttention

Result<Value*> QueryOrKeys(ImportContext& ctx, size_t i, std::string_view name) {
  Value* const v = ctx.input(i);
  if (v == nullptr || (v->type().ranked() && v->type().rank() == 5))
    return UnsupportedError("MultiHeadAttention of packed operands; {} must be a tensor of its own",
                            name);
  NN_RETURN_IF_ERROR(RequireRanks(ctx, v, name, 3, 4));
  return v;
}

// The operands with their parts of the bias [hidden + hidden + v_hidden].
Status AddBias(ImportContext& ctx, std::vector<Value*>& operands) {
  Value* const bias = ctx.input(3);
  if (bias == nullptr) return {};
  NN_RETURN_IF_ERROR(RequireRanks(ctx, bias, "bias", 1, 1));
  int64_t start = 0;
  for (Value*& v : operands) {
    if (v->type().rank() != 3 || !v->type().dim(2).is_const())
      return UnsupportedError("MultiHeadAttention with a bias of {}", v->type().ToString());
    const int64_t end = start + v->type().dim(2).value();
    NN_ASSIGN(Value* const part, ctx.Add("slice", {bias}, SliceAttrs{{0}, {start}, {end}, {1}}));
    NN_ASSIGN(v, ctx.Add("add", {v, part}));
    start = end;
  }
  return {};
}

// key_padding_mask and attention_bias as numbers that are added to the scores; null if there are
// none. A padded key gets mask_filter_value, which is finite.
Result<Value*> AddedMask(ImportContext& ctx, Value* q, Value* k) {
  Value* const padding = ctx.input(4);
  Value* bias = ctx.input(5);
  if (bias != nullptr) NN_RETURN_IF_ERROR(RequireRanks(ctx, bias, "attention_bias", 4, 4));
  if (padding == nullptr) return bias;
  NN_RETURN_IF_ERROR(RequireRanks(ctx, padding, "key_padding_mask", 1, 3));
  const Type& type = padding->type();
  Value* is_key = nullptr;
  if (type.rank() == 1) {
    if (!(type.dim(0) == q->type().dim(0)))
      return UnsupportedError(
          "MultiHeadAttention with a key_padding_mask of {}; a vector must have the size of the "
          "batch",
          type.ToString());
    NN_ASSIGN(Value* const valid, ctx.Add("cast", {padding}, CastAttrs{.to = DType::kI64}));
    NN_ASSIGN(is_key, VisibilityMask(ctx, {.valid = valid}, q, k));
  } else {
    NN_ASSIGN(Value* const zero, ctx.Number(padding->dtype(), 0));
    NN_ASSIGN(is_key, ctx.Add("greater", {padding, zero}));
    AxesAttrs axes{{1}};
    if (type.rank() == 2) axes.axes.push_back(2);
    NN_ASSIGN(is_key, ctx.Add("expand_dims", {is_key}, std::move(axes)));
  }
  const float filter = ctx.Float("mask_filter_value", -10000.0f);
  NN_ASSIGN(Value* const none, ctx.Number(q->dtype(), 0));
  NN_ASSIGN(Value* const filtered, ctx.Number(q->dtype(), static_cast<double>(filter)));
  NN_ASSIGN(Value* const mask, ctx.Add("select", {is_key, none, filtered}));
  return bias == nullptr ? Result<Value*>(mask) : ctx.Add("add", {bias, mask});
}

Status ImportMultiHeadAttention(ImportContext& ctx) {
  NN_ASSIGN(const int64_t heads, ctx.RequiredInt("num_heads"));
  std::vector<Value*> operands;
  for (const auto& [i, name] :
       {std::pair(0, "query"), std::pair(1, "key"), std::pair(2, "value")}) {
    NN_ASSIGN(Value* const v, QueryOrKeys(ctx, static_cast<size_t>(i), name));
    operands.push_back(v);
  }
  NN_RETURN_IF_ERROR(RequireRanks(ctx, operands[0], "query", 3, 3));
  for (const auto& [i, name] :
       {std::pair(8, "past_sequence_length"), std::pair(9, "cache_indirection")})
    if (ctx.input(static_cast<size_t>(i)) != nullptr)
      return UnsupportedError("MultiHeadAttention with {}", name);
  if (ctx.WantsOutput(3)) return UnsupportedError("MultiHeadAttention with the output qk");
  const float scale = ctx.Float("scale", 0);
  if (!(scale >= 0) || !std::isfinite(scale))
    return UnsupportedError("MultiHeadAttention with a scale of {}", scale);
  NN_RETURN_IF_ERROR(AddBias(ctx, operands));
  for (Value*& v : operands) {
    if (v->type().rank() == 4) continue;
    NN_ASSIGN(v, SplitHeads(ctx, v, heads, "num_heads"));
    NN_ASSIGN(v, ExchangeHeads(ctx, v));
  }
  Value* const q = operands[0];
  const Visibility seen{.is_causal = ctx.Int("unidirectional", 0) != 0, .past = ctx.input(6)};
  NN_ASSIGN(Value* const k, WithPast(ctx, 6, "past_key", operands[1]));
  NN_ASSIGN(Value* const v, WithPast(ctx, 7, "past_value", operands[2]));
  NN_ASSIGN(Value * mask, AddedMask(ctx, q, k));
  AttentionAttrs attrs{.scale = scale};
  if (seen.is_plain()) {
    attrs.is_causal = seen.is_causal;
  } else {
    NN_ASSIGN(Value* const visible, VisibilityMask(ctx, seen, q, k));
    NN_ASSIGN(mask, JoinMasks(ctx, mask, visible));
  }
  std::vector<Value*> inputs = {q, k, v};
  if (mask != nullptr) inputs.push_back(mask);
  NN_ASSIGN(Value * y, ctx.Add("attention", std::move(inputs), attrs));
  NN_ASSIGN(y, ExchangeHeads(ctx, y));
  NN_ASSIGN(y, JoinHeads(ctx, y));
  ctx.SetOutput(0, y);
  ctx.SetOutput(1, k);
  ctx.SetOutput(2, v);
  return {};
}

// ---- RotaryEmbedding

// The positions of the tokens: position_ids [B, L], or what follows from the first one.
Result<Value*> TokenPositions(ImportContext& ctx, Value* x, int axis) {
  NN_ASSIGN(Value* const ids, ctx.Required(1));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, ids, "position_ids", 1, 2));
  if (ids->type().rank() == 2) return ids;
  const AddOperator add = [&](std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
    return ctx.Add(op, std::move(inputs), std::move(attrs));
  };
  NN_ASSIGN(Value* const behind_first, AxisPositions(ctx.graph(), add, x, axis));
  return ctx.Add("add", {behind_first, ids});
}

// Input x as [B, heads, L, E], or [B, L, heads, E] if it is packed. Without num_heads, the angles,
// two elements each, give the size of a head.
Result<Value*> RotatedOperand(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, x, "input", 3, 4));
  NN_ASSIGN(Value* const cos, ctx.Required(2));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, cos, "cos_cache", 2, 2));
  if (x->type().rank() == 4) return x;
  int64_t heads = ctx.Int("num_heads", 0);
  const Dim& hidden = x->type().dim(2);
  const Dim size = cos->type().dim(1) * 2;
  if (heads == 0) {
    if (ctx.Int("rotary_embedding_dim", 0) != 0 || !hidden.is_const() || !size.is_const() ||
        size == 0)
      return UnsupportedError("RotaryEmbedding of an input of rank 3 needs num_heads");
    heads = hidden.value() / size.value();
  }
  return SplitHeads(ctx, x, heads, "num_heads");
}

Status ImportContribRotaryEmbedding(ImportContext& ctx) {
  if (ctx.Float("scale", 1.0f) != 1.0f)
    return UnsupportedError("RotaryEmbedding with a scale of {}", ctx.Float("scale", 1.0f));
  if (ctx.Int("is_packed_batching", 0) != 0)
    return UnsupportedError("RotaryEmbedding with packed batches");
  NN_ASSIGN(Value* const x, RotatedOperand(ctx));
  const bool is_packed = ctx.input(0)->type().rank() == 3;
  NN_ASSIGN(Value* const positions, TokenPositions(ctx, x, is_packed ? 1 : 2));
  std::vector<Value*> inputs = {x};
  for (const size_t i : {2, 3}) {
    NN_ASSIGN(Value * angles, ctx.Required(i));
    NN_RETURN_IF_ERROR(RequireRanks(ctx, angles, i == 2 ? "cos_cache" : "sin_cache", 2, 2));
    NN_ASSIGN(angles, ctx.Add("gather", {angles, positions}, GatherAttrs{0, 0}));
    // [B, L, R / 2] or [L, R / 2]
    const int rank = angles->type().rank();
    NN_ASSIGN(angles,
              ctx.Add("expand_dims", {angles}, AxesAttrs{{is_packed ? rank - 1 : rank - 2}}));
    inputs.push_back(angles);
  }
  return EmitRotary(ctx, std::move(inputs), is_packed);
}

constexpr ImportRow kContribAttentionImports[] = {
    {.op = "MultiHeadAttention",
     .since = 1,
     .import = ImportMultiHeadAttention,
     .domain = "com.microsoft"},
    {.op = "RotaryEmbedding",
     .since = 1,
     .import = ImportContribRotaryEmbedding,
     .domain = "com.microsoft"},
};

}  // namespace

Family ContribAttentionFamily() {
  return {.imports = kContribAttentionImports};
}

}  // namespace nn::onnx
