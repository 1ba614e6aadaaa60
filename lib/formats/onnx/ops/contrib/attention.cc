// Attention operators of com.microsoft; GroupQueryAttention is in contrib_gqa.cc.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/heads.h"
#include "ops/array/arrange/concat.h"
#include "ops/nn/attention/attention.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

// ---- Scores

// Whether each key is at the position `first`, [B], or after it: [B, 1, 1, keys].
Term KeysFrom(const Term& first, Value* k) {
  const Term key = AxisPositions(k, 2);
  return GreaterEqual(key, ExpandDims(first, {1, 2, 3}));
}

// Which keys a vector of positions makes visible: those before its first B numbers and, if there
// are more, those from the next B on.
Result<Term> KeysInRange(ImportContext& ctx, Value* positions, std::string_view name, Value* q,
                         Value* k) {
  const Dim& batch = q->type().dim(0);
  const Dim& size = positions->type().dim(0);
  if (size == batch) return VisibilityMask({.valid = As(positions, DType::kI64)}, q, k);
  if (!(size == batch * 2) || !batch.is_const())
    return UnsupportedError(
        "{} with a {} of {}; a vector must have the size of the batch, or twice that",
        ctx.node().op_type(), name, positions->type().ToString());
  std::vector<Term> parts =
      ApplyAll("split", {positions}, SplitAttrs{0, {batch.value(), batch.value()}}, 2);
  for (Term& part : parts) part = As(part, positions->dtype(), DType::kI64);
  const Term before_end = VisibilityMask({.valid = parts[0]}, q, k);
  const Term from_start = KeysFrom(parts[1], k);
  return And(before_end, from_start);
}

// The input `padding`, a mask of integers, and the input `bias` as numbers that are added to the
// scores; null if there are none. A padded key gets mask_filter_value, which is finite.
Result<Value*> AddedMask(ImportContext& ctx, size_t padding_input, size_t bias_input, Value* q,
                         Value* k) {
  Value* const padding = ctx.input(padding_input);
  Value* const bias = ctx.input(bias_input);
  if (bias != nullptr) NN_RETURN_IF_ERROR(RequireRanks(ctx, bias, "attention_bias", 4, 4));
  if (padding == nullptr) return bias;
  NN_RETURN_IF_ERROR(RequireRanks(ctx, padding, "the mask", 1, 3));
  const Type& type = padding->type();
  Term is_key;
  if (type.rank() == 1) {
    NN_ASSIGN(is_key, KeysInRange(ctx, padding, "mask", q, k));
  } else {
    std::vector<int64_t> axes = {1};
    if (type.rank() == 2) axes.push_back(2);
    is_key = ExpandDims(Greater(padding, 0), std::move(axes));
  }
  NN_ASSIGN(Value* const none, ctx.Number(q->dtype(), 0));
  const Term mask = Select(is_key, none, ctx.Float("mask_filter_value", -10000.0f));
  return ctx.Build(bias == nullptr ? mask : bias + mask);
}

// The attention of operands with the heads first; the result is [B, L, heads * E].
Result<Term> ContribAttention(ImportContext& ctx, Value* q, Value* k, Value* v, Value* given,
                              const Visibility& seen) {
  AttentionAttrs attrs{.scale = ctx.Float("scale", 0)};
  if (!(attrs.scale >= 0) || !std::isfinite(attrs.scale))
    return UnsupportedError("{} with a scale of {}", ctx.node().op_type(), attrs.scale);
  Term mask = given;
  if (seen.is_plain()) {
    attrs.is_causal = seen.is_causal;
  } else {
    const Term visible = VisibilityMask(seen, q, k);
    NN_ASSIGN(mask, JoinMasks(ctx, given, visible));
  }
  std::vector<Term> operands = {q, k, v};
  if (!mask.is_absent()) operands.push_back(mask);
  NN_ASSIGN(Value* const y, ctx.Add("attention", std::move(operands), attrs));
  return JoinHeads(y);
}

// ---- MultiHeadAttention

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
    NN_ASSIGN(v, ctx.Build(v + Slice(bias, 0, start, end)));
    start = end;
  }
  return {};
}

// Appends the parts of an operand [B, L, heads, parts, E], each with the heads first.
Status AddPacked(ImportContext& ctx, Value* v, int64_t parts, std::vector<Value*>& operands) {
  if (!(v->type().dim(3) == parts))
    return ModelError("a packed operand is {}; axis 3 must have size {}", v->type().ToString(),
                      parts);
  for (int64_t i = 0; i < parts; ++i) {
    const Term part = Squeeze(Slice(v, 3, i, i + 1), {3});
    NN_ASSIGN(operands.emplace_back(), ctx.Build(ExchangeHeads(part)));
  }
  return {};
}

// Query, key and value. Each is of its own, or all are packed in the query, or key and value in the
// key. Those of rank 4 have the heads first.
Result<std::vector<Value*>> Operands(ImportContext& ctx) {
  Value* const query = ctx.input(0);
  NN_RETURN_IF_ERROR(RequireRanks(ctx, query, "query", 3, 5));
  Value* const key = ctx.input(1);
  Value* const value = ctx.input(2);
  std::vector<Value*> operands;
  if (query->type().rank() == 5) {
    if (key != nullptr || value != nullptr)
      return ModelError("query is {}, which contains key and value", query->type().ToString());
    NN_RETURN_IF_ERROR(AddPacked(ctx, query, 3, operands));
  } else {
    NN_RETURN_IF_ERROR(RequireRanks(ctx, query, "query", 3, 3));
    operands.push_back(query);
    NN_RETURN_IF_ERROR(ctx.Required(1));
    NN_RETURN_IF_ERROR(RequireRanks(ctx, key, "key", 3, 5));
    if (key->type().rank() == 5) {
      if (value != nullptr)
        return ModelError("key is {}, which contains the value", key->type().ToString());
      NN_RETURN_IF_ERROR(AddPacked(ctx, key, 2, operands));
    } else {
      NN_RETURN_IF_ERROR(ctx.Required(2));
      NN_RETURN_IF_ERROR(RequireRanks(ctx, value, "value", 3, 4));
      operands.insert(operands.end(), {key, value});
    }
  }
  if (value == nullptr && ctx.input(3) != nullptr)
    return UnsupportedError("MultiHeadAttention of packed operands with a bias");
  return operands;
}

Status ImportMultiHeadAttention(ImportContext& ctx) {
  NN_ASSIGN(const int64_t heads, ctx.RequiredInt("num_heads"));
  NN_ASSIGN(std::vector<Value*> operands, Operands(ctx));
  for (const auto& [i, name] :
       {std::pair(8, "past_sequence_length"), std::pair(9, "cache_indirection")})
    if (ctx.input(static_cast<size_t>(i)) != nullptr)
      return UnsupportedError("MultiHeadAttention with {}", name);
  if (ctx.WantsOutput(3)) return UnsupportedError("MultiHeadAttention with the output qk");
  NN_RETURN_IF_ERROR(AddBias(ctx, operands));
  for (Value*& v : operands) {
    if (v->type().rank() == 4) continue;
    NN_ASSIGN(Value* const split, SplitHeads(ctx, v, heads, "num_heads"));
    NN_ASSIGN(v, ctx.Build(ExchangeHeads(split)));
  }
  Value* const q = operands[0];
  const Visibility seen{
      .is_causal = ctx.Int("unidirectional", 0) != 0, .past = ctx.input(6), .valid = {}};
  NN_ASSIGN(Value* const k, WithPast(ctx, 6, "past_key", operands[1]));
  NN_ASSIGN(Value* const v, WithPast(ctx, 7, "past_value", operands[2]));
  NN_ASSIGN(Value* const mask, AddedMask(ctx, 4, 5, q, k));
  NN_ASSIGN(const Term y, ContribAttention(ctx, q, k, v, mask, seen));
  ctx.SetOutput(1, k);
  ctx.SetOutput(2, v);
  return ctx.EmitTerm(y);
}

// ---- Attention, QAttention

constexpr size_t kNoInput = 99;

// Attention whose operands are the parts of one product, [B, L, q + k + v].
struct SelfAttention {
  Value* product;
  size_t mask, past, bias = kNoInput;  // inputs
};

// The sizes of the parts: those of the attribute, or equal ones.
Result<std::vector<int64_t>> PartSizes(const ImportContext& ctx, const Value* product) {
  NN_RETURN_IF_ERROR(RequireRanks(ctx, product, "the product", 3, 3));
  std::vector<int64_t> sizes = ctx.Ints("qkv_hidden_sizes");
  const Dim& all = product->type().dim(2);
  if (!all.is_const())
    return UnsupportedError("{} needs weights of known size", ctx.node().op_type());
  if (sizes.empty()) sizes.assign(3, all.value() / 3);
  if (sizes.size() != 3 || std::reduce(sizes.begin(), sizes.end()) != all.value() ||
      std::ranges::any_of(sizes, [](int64_t n) { return n <= 0; }) || sizes[0] != sizes[1])
    return ModelError("{} columns of the weights cannot be split into q, k and v", all.value());
  return sizes;
}

// Keys (i = 0) or values (1) after those of `past`, [2, B, heads, P, E].
Term BehindPast(Value* past, int64_t i, Term v) {
  return Concat({Squeeze(Slice(past, 0, i, i + 1), {0}), std::move(v)}, 2);
}

Status EmitSelfAttention(ImportContext& ctx, const SelfAttention& s) {
  NN_ASSIGN(const int64_t heads, ctx.RequiredInt("num_heads"));
  for (const std::string_view name : {"do_rotary", "past_present_share_buffer"})
    if (ctx.Int(name, 0) != 0)
      return UnsupportedError("{} with {} = {}", ctx.node().op_type(), name, ctx.Int(name, 0));
  NN_ASSIGN(std::vector<int64_t> sizes, PartSizes(ctx, s.product));
  NN_ASSIGN(Node* const parts, ctx.AddNode("split", {s.product}, SplitAttrs{2, sizes}, 3));
  std::vector<Value*> operands;
  for (const size_t i : {0, 1, 2}) {
    NN_ASSIGN(Value* const split, SplitHeads(ctx, parts->output(i), heads, "num_heads"));
    NN_ASSIGN(operands.emplace_back(), ctx.Build(ExchangeHeads(split)));
  }
  Visibility seen;
  seen.is_causal = ctx.Int("unidirectional", 0) != 0;
  if (Value* const past = ctx.input(s.past)) {
    NN_RETURN_IF_ERROR(RequireRanks(ctx, past, "past", 5, 5));
    for (const size_t i : {1, 2}) {
      NN_ASSIGN(operands[i], ctx.Build(BehindPast(past, static_cast<int64_t>(i) - 1, operands[i])));
    }
    NN_ASSIGN(seen.past, ctx.Build(Squeeze(Slice(past, 0, 0, 1), {0})));
  }
  NN_ASSIGN(Value* const mask, AddedMask(ctx, s.mask, s.bias, operands[0], operands[1]));
  NN_ASSIGN(const Term y, ContribAttention(ctx, operands[0], operands[1], operands[2], mask, seen));
  NN_RETURN_IF_ERROR(ctx.EmitTerm(y));
  if (!ctx.WantsOutput(1)) return {};
  const Term present = Concat({ExpandDims(operands[1], {0}), ExpandDims(operands[2], {0})}, 0);
  return ctx.EmitTerm(present, 1);
}

Status ImportContribAttention(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const weights = ctx.input(1);
  if (ctx.input(6) != nullptr) return UnsupportedError("Attention with past_sequence_length");
  Term y = Matmul(x, weights);
  if (Value* const bias = ctx.input(2)) y = y + bias;
  NN_ASSIGN(Value* const product, ctx.Build(y));
  return EmitSelfAttention(ctx, {.product = product, .mask = 3, .past = 4, .bias = 5});
}

// The product is of integers less their zero points.
Status ImportQAttention(ImportContext& ctx) {
  const auto inputs = ctx.Inputs(5);
  const Term integers = Apply("matmul_integer", {inputs[0], inputs[1], ctx.input(6), ctx.input(7)});
  const Term reals = As(integers, DType::kI32, inputs[3]->dtype());
  NN_ASSIGN(Value* const product, ctx.Build(reals * (Term(inputs[3]) * inputs[4]) + inputs[2]));
  return EmitSelfAttention(ctx, {.product = product, .mask = 5, .past = 8});
}

// ---- RotaryEmbedding

// The positions of the tokens: position_ids [B, L], or what follows from the first one.
Result<Term> TokenPositions(ImportContext& ctx, Value* x, int axis) {
  Value* const ids = ctx.input(1);
  NN_RETURN_IF_ERROR(RequireRanks(ctx, ids, "position_ids", 1, 2));
  if (ids->type().rank() == 2) return ids;
  const Term behind_first = AxisPositions(x, axis);
  return behind_first + ids;
}

// Input x as [B, heads, L, E], or [B, L, heads, E] if it is packed. Without num_heads, the angles,
// two elements each, give the size of a head.
Result<Value*> RotatedOperand(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_RETURN_IF_ERROR(RequireRanks(ctx, x, "input", 3, 4));
  Value* const cos = ctx.input(2);
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
  NN_ASSIGN(const Term tokens, TokenPositions(ctx, x, is_packed ? 1 : 2));
  NN_ASSIGN(Value* const positions, ctx.Build(tokens));
  const int rank = positions->type().rank() + 1;  // of angles [B, L, R / 2] or [L, R / 2]
  std::vector<Term> operands = {x};
  for (const size_t i : {2, 3}) {
    Value* const cache = ctx.input(i);
    NN_RETURN_IF_ERROR(RequireRanks(ctx, cache, i == 2 ? "cos_cache" : "sin_cache", 2, 2));
    operands.push_back(ExpandDims(Gather(cache, positions, 0), {is_packed ? rank - 1 : rank - 2}));
  }
  return EmitRotary(ctx, std::move(operands), is_packed);
}

constexpr ImportRow kContribAttentionImports[] = {
    {.op = "Attention", .import = ImportContribAttention, .inputs = 2, .domain = kMicrosoft},
    {.op = "MultiHeadAttention",
     .import = ImportMultiHeadAttention,
     .inputs = 1,
     .domain = kMicrosoft},
    {.op = "QAttention", .import = ImportQAttention, .inputs = 5, .domain = kMicrosoft},
    {.op = "RotaryEmbedding",
     .import = ImportContribRotaryEmbedding,
     .inputs = 4,
     .domain = kMicrosoft},
};

}  // namespace

Family ContribAttentionFamily() {
  return {.imports = kContribAttentionImports};
}

}  // namespace nn::onnx
