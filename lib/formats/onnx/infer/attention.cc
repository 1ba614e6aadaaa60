// Type inference of attention and related operators.
#include "formats/onnx/infer/dim_names.h"

namespace nn::onnx {
namespace {

// The number of heads in an attribute; 0 if it is absent.
Result<int64_t> Heads(const TypeContext& ctx, std::string_view name) {
  const int64_t heads = ctx.node().Int(name, 0);
  if (ctx.node().HasAttr(name) && heads <= 0)
    return ModelError("{} is {}; it must be positive", name, heads);
  return heads;
}

// Version 25: inputs and outputs that require or exclude each other.
Status CheckAttention25(const TypeContext& ctx) {
  for (const char* name : {"left_window_size", "right_window_size"})
    if (const int64_t size = ctx.node().Int(name, -1); size < -1)
      return ModelError("{} is {}; it must be -1 or more", name, size);
  if (ctx.has(4) != ctx.has(5))
    return ModelError("past_key and past_value must both be present or absent");
  if (ctx.node().WantsOutput(1) != ctx.node().WantsOutput(2))
    return ModelError("present_key and present_value must both be present or absent");
  if (ctx.has(6) && (ctx.has(4) || ctx.node().WantsOutput(1)))
    return ModelError("nonpad_kv_seqlen cannot be combined with a past or present cache");
  if (const Dims* q = ctx.dims(0); q != nullptr && q->size() == 4)
    for (const char* name : {"q_num_heads", "kv_num_heads"})
      if (ctx.node().HasAttr(name))
        return ModelError("{} cannot be set for inputs of rank 4", name);
  return {};
}

Status InferAttention(TypeContext& ctx) {
  for (const size_t i : {0, 1, 2}) NN_RETURN_IF_ERROR(ctx.CheckRank(i, 3, 4));
  if (ctx.node().opset() >= 25) NN_RETURN_IF_ERROR(CheckAttention25(ctx));
  for (const size_t i : {0, 3}) ctx.Set(i, ctx.dtype(0));
  const bool past = ctx.has(4) && ctx.has(5);
  ctx.Set(1, ctx.dtype(past ? 4 : 1));
  ctx.Set(2, ctx.dtype(past ? 5 : 2));
  const Dims* q = ctx.dims(0);
  const Dims* v = ctx.dims(2);
  if (q == nullptr) return {};
  NN_ASSIGN(const int64_t q_heads, Heads(ctx, "q_num_heads"));
  NN_ASSIGN(const int64_t kv_heads, Heads(ctx, "kv_num_heads"));
  if (q->size() == 3 && (q_heads == 0 || kv_heads == 0))
    return ModelError("inputs of rank 3 need q_num_heads and kv_num_heads");
  if (v == nullptr || v->size() != q->size()) return {};
  Dim length;
  if (q->size() == 4) {
    length = (*v)[2];
    ctx.Set(0, ctx.dtype(0), Dims{(*q)[0], (*q)[1], (*q)[2], (*v)[3]});
  } else {
    length = (*v)[1];
    const Dim hidden =
        (*v)[2].is_const() ? Dim((*v)[2].value() / kv_heads) * q_heads : ctx.Unknown();
    ctx.Set(0, ctx.dtype(0), Dims{(*q)[0], (*q)[1], hidden});
  }
  if (past) {
    const Dims* keys = ctx.dims(4);
    const Dims* values = ctx.dims(5);
    for (const size_t i : {4, 5}) NN_RETURN_IF_ERROR(ctx.CheckRank(i, 4));
    if (keys == nullptr || values == nullptr) return {};
    length = length + (*keys)[2];
    for (const auto& [i, cache] : {std::pair(1, keys), std::pair(2, values)}) {
      Dims present = *cache;
      present[2] = length;
      ctx.Set(static_cast<size_t>(i), ctx.dtype(static_cast<size_t>(i) + 3), std::move(present));
    }
  }
  const bool four = q->size() == 4;
  ctx.Set(3, ctx.dtype(0),
          Dims{(*q)[0], four ? (*q)[1] : Dim(q_heads), four ? (*q)[2] : (*q)[1], length});
  return {};
}

// A subgraph that modifies scores or probabilities: a tensor [B, Hq, L, S] to one of the same type.
Status CheckModifier(TypeContext& ctx, const DimNames& dims, std::string_view name) {
  const pb::AttributeProto* a = ctx.node().FindAttr(name);
  if (a == nullptr) return {};
  if (!a->has_g() || a->g().input_size() != 1 || a->g().output_size() != 1)
    return ModelError("{} must be a graph with one input and one output", name);
  const DType dtype =
      ctx.TypeAttr("softmax_precision", ctx.dtype(0) == DType::kF64 ? DType::kF64 : DType::kF32);
  DimNames scores = dims;
  const ValueType given = ValueType::Tensor(dtype, scores.Make("B Hq L S"));
  const auto made = ctx.InferSubGraph(name, {given});
  if (made && Compare(given, made->front()) != Agreement::kAgree)
    return ModelError("{} returns {} for {}", name, made->front().ToString(), given.ToString());
  return {};
}

Status InferFlexAttention(TypeContext& ctx) {
  DimNames dims(ctx);
  NN_RETURN_IF_ERROR(dims.Match(0, "B Hq L Dqk"));
  NN_RETURN_IF_ERROR(dims.Match(1, "B Hkv S Dqk"));
  NN_RETURN_IF_ERROR(dims.Match(2, "B Hkv S Dv"));
  const auto q_heads = dims.Number("Hq");
  const auto kv_heads = dims.Number("Hkv");
  if (q_heads && kv_heads && *q_heads != *kv_heads && (*kv_heads <= 0 || *q_heads % *kv_heads != 0))
    return ModelError("the number of query heads {} is not a multiple of {}", *q_heads, *kv_heads);
  for (const char* name : {"score_mod", "prob_mod"})
    NN_RETURN_IF_ERROR(CheckModifier(ctx, dims, name));
  ctx.Set(0, ctx.dtype(0), dims.Make("B Hq L Dv"));
  return {};
}

Status InferRotaryEmbedding(TypeContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.CheckRank(0, 3, 4));
  if (ctx.dims(0) != nullptr && ctx.dims(0)->size() == 3 && !ctx.node().HasAttr("num_heads"))
    return ModelError("an input of rank 3 needs num_heads");
  ctx.Like(0, 0);
  return {};
}

Status InferCausalConvWithState(TypeContext& ctx) {
  const std::string activation = ctx.node().String("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return ModelError("activation is {}; expected none, silu or swish", activation);
  DimNames dims(ctx);
  NN_RETURN_IF_ERROR(dims.Match(0, "B C L"));
  NN_RETURN_IF_ERROR(dims.Match(1, "C 1 K"));
  NN_RETURN_IF_ERROR(dims.Match(2, "C"));
  if (const auto kernel = dims.Number("K")) {
    if (*kernel < 1) return ModelError("the kernel size is {}; it must be positive", *kernel);
    NN_RETURN_IF_ERROR(dims.Bind("P", *kernel - 1));
  }
  NN_RETURN_IF_ERROR(dims.Match(3, "B C P"));
  ctx.Like(0, 0);
  ctx.Set(1, ctx.dtype(0), dims.Make("B C P"));
  return {};
}

}  // namespace

void AddAttentionInferences(InferTable& t) {
  t.Add("", "Attention", 23, InferAttention);
  t.Add("", "RotaryEmbedding", 23, InferRotaryEmbedding);
  t.Add("", "CausalConvWithState", 27, InferCausalConvWithState);
  t.Add("ai.onnx.preview", "FlexAttention", 1, InferFlexAttention);
}

}  // namespace nn::onnx
