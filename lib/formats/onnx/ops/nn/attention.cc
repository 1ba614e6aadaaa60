// Attention and RotaryEmbedding.
#include "ops/nn/attention/attention.h"

#include <cmath>
#include <limits>
#include <optional>

#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/import/heads.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/nn/attention/rotary_embedding.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

// ---- Attention

// An operand as [B, heads, L, E].
Result<Value*> HeadsFirst(ImportContext& ctx, size_t i, std::string_view name,
                          std::string_view heads) {
  NN_ASSIGN(Value* const v, ctx.Required(i));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, v, name, 3, 4));
  if (v->type().rank() == 4) return v;
  if (!ctx.HasAttr(heads)) return ModelError("inputs of rank 3 need {}", heads);
  NN_ASSIGN(Value* const split, SplitHeads(ctx, v, ctx.Int(heads, 0), heads));
  return ctx.Build(ExchangeHeads(split));
}

// attn_mask for all keys; from version 24 on, those that it lacks are masked.
Result<Value*> FullMask(ImportContext& ctx, Value* k) {
  Value* const mask = ctx.input(3);
  if (mask == nullptr) return mask;
  NN_RETURN_IF_ERROR(RequireRanks(ctx, mask, "attn_mask", 0, 4));
  const int rank = mask->type().rank();
  if (ctx.opset() < 24 || rank == 0) return mask;
  const Dim& columns = mask->type().dim(rank - 1);
  const Dim& keys = k->type().dim(2);
  if (columns == keys) return mask;
  if (columns.is_const() && keys.is_const() && columns.value() > keys.value())
    return ModelError("attn_mask is {} for {} keys", mask->type().ToString(), keys.ToString());
  const bool is_bool = mask->dtype() == DType::kBool;
  const double masked = is_bool ? 0 : -std::numeric_limits<double>::infinity();
  PadAttrs pad;
  if (columns.is_const() && keys.is_const()) {
    pad.pads.assign(2 * static_cast<size_t>(rank), 0);
    pad.pads.back() = keys.value() - columns.value();
    return ctx.Add("pad", {mask, masked}, std::move(pad));
  }
  const Term missing = SizeOfAxis(k, 2) - SizeOfAxis(mask, rank - 1);
  const Term none = Vector(std::vector<int64_t>(2 * static_cast<size_t>(rank) - 1, 0));
  return ctx.Add("pad", {mask, masked, Concat({none, missing}, 0)}, std::move(pad));
}

Result<Visibility> VisibilityOf(const ImportContext& ctx) {
  Visibility seen{.is_causal = ctx.Int("is_causal", 0) != 0,
                  .left = ctx.Int("left_window_size", -1),
                  .right = ctx.Int("right_window_size", -1),
                  .past = ctx.input(4),
                  .valid = ctx.input(6)};
  for (const int64_t size : {seen.left, seen.right})
    if (size < -1) return ModelError("a window size is {}; it must be -1 or more", size);
  if ((ctx.input(4) == nullptr) != (ctx.input(5) == nullptr))
    return ModelError("past_key and past_value must both be present or absent");
  if (ctx.input(6) != nullptr) {
    if (seen.past != nullptr)
      return ModelError("nonpad_kv_seqlen cannot be combined with past_key");
    NN_RETURN_IF_ERROR(RequireRanks(ctx, ctx.input(6), "nonpad_kv_seqlen", 1, 1));
  }
  return seen;
}

Result<AttentionAttrs> AttentionAttrsOf(const ImportContext& ctx) {
  AttentionAttrs a;
  if (ctx.HasAttr("scale")) {
    a.scale = ctx.Float("scale", 0);
    if (!(a.scale > 0) || !std::isfinite(a.scale))
      return UnsupportedError("Attention with a scale of {}, whose root scales Q and K", a.scale);
  }
  // The hyperbolic tangent is odd, so the sign does not matter.
  a.softcap = std::abs(ctx.Float("softcap", 0));
  return a;
}

// The type of the softmax where the operator has another: it computes f16 and bf16 in f32.
Result<DType> SoftmaxType(const ImportContext& ctx, DType dtype) {
  if (!ctx.HasAttr("softmax_precision")) return DType::kUnknown;
  const int64_t code = ctx.Int("softmax_precision", 0);
  const DType type = DTypeOf(static_cast<int>(code));
  if (!IsFloat(type) || DTypeBits(type) < 16)
    return ModelError("softmax_precision is {}; it must be a type of floats", code);
  const bool is_half = dtype == DType::kF16 || dtype == DType::kBF16;
  return type == dtype || (is_half && type == DType::kF32) ? DType::kUnknown : type;
}

Status ImportAttention(ImportContext& ctx) {
  NN_ASSIGN(Value* const q, HeadsFirst(ctx, 0, "Q", "q_num_heads"));
  NN_ASSIGN(Value * k, HeadsFirst(ctx, 1, "K", "kv_num_heads"));
  NN_ASSIGN(Value * v, HeadsFirst(ctx, 2, "V", "kv_num_heads"));
  if (v->dtype() != q->dtype() || k->dtype() != q->dtype())
    return UnsupportedError("Attention of {}, {} and {}; the function needs one type",
                            DTypeName(q->dtype()), DTypeName(k->dtype()), DTypeName(v->dtype()));
  for (const size_t i : {1, 2})
    if (ctx.input(i)->type().rank() != ctx.input(0)->type().rank())
      return ModelError("Q is {}, and input {} {}; they must have one rank",
                        ctx.input(0)->type().ToString(), i, ctx.input(i)->type().ToString());
  NN_ASSIGN(const Visibility seen, VisibilityOf(ctx));
  NN_ASSIGN(AttentionAttrs attrs, AttentionAttrsOf(ctx));
  NN_ASSIGN(const DType softmax, SoftmaxType(ctx, q->dtype()));
  NN_ASSIGN(k, WithPast(ctx, 4, "past_key", k));
  NN_ASSIGN(v, WithPast(ctx, 5, "past_value", v));
  NN_ASSIGN(Value * mask, FullMask(ctx, k));
  if (seen.is_plain()) {
    attrs.is_causal = seen.is_causal;
  } else {
    const Term visible = VisibilityMask(seen, q, k);
    NN_ASSIGN(const Term joined, JoinMasks(ctx, mask, visible));
    NN_ASSIGN(mask, ctx.Build(joined));
  }
  ctx.SetOutput(1, k);
  ctx.SetOutput(2, v);
  Value* y = nullptr;
  if (!ctx.WantsOutput(3) && softmax == DType::kUnknown) {
    std::vector<Value*> inputs = {q, k, v};
    if (mask != nullptr) inputs.push_back(mask);
    NN_ASSIGN(y, ctx.Add("attention", std::move(inputs), attrs));
  } else {
    // The operator has one result, so its parts take its place. Its checks of the operands remain.
    NN_ASSIGN(Node* const checked, ctx.AddNode("attention", {q, k, v, mask}, attrs));
    ctx.graph().Erase(checked);
    const AttentionParts parts({q, k, v, mask}, attrs, softmax);
    NN_ASSIGN(y, ctx.Build(parts.y()));
    const int64_t mode = ctx.Int("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3)
      return ModelError("qk_matmul_output_mode is {}; it must be in [0, 3]", mode);
    if (ctx.WantsOutput(3)) {
      NN_ASSIGN(Value* const inside, ctx.Build(parts.At(static_cast<AttentionParts::Stage>(mode))));
      ctx.SetOutput(3, inside);
    }
  }
  return ctx.EmitTerm(ctx.input(0)->type().rank() == 4 ? Term(y) : JoinHeads(y));
}

// ---- RotaryEmbedding

// The cosines or sines of the positions, [B, L, R / 2].
Result<Value*> AnglesAt(ImportContext& ctx, size_t i, std::string_view name) {
  NN_ASSIGN(Value* const cache, ctx.Required(i));
  Value* const positions = ctx.input(3);
  const int rank = positions == nullptr ? 3 : 2;
  NN_RETURN_IF_ERROR(RequireRanks(ctx, cache, name, rank, rank));
  if (positions == nullptr) return cache;
  NN_RETURN_IF_ERROR(RequireRanks(ctx, positions, "position_ids", 2, 2));
  return ctx.Add("gather", {cache, positions}, GatherAttrs{0, 0});
}

Status ImportRotaryEmbedding(ImportContext& ctx) {
  Value* x = ctx.input(0);
  NN_RETURN_IF_ERROR(RequireRanks(ctx, x, "X", 3, 4));
  const bool is_packed = x->type().rank() == 3;
  if (is_packed) {
    if (!ctx.HasAttr("num_heads")) return ModelError("an input of rank 3 needs num_heads");
    NN_ASSIGN(x, SplitHeads(ctx, x, ctx.Int("num_heads", 0), "num_heads"));
  }
  std::vector<Term> operands = {x};
  const Dim dim = ctx.Int("rotary_embedding_dim", 0);
  const Dim& size = x->type().dim(3);
  for (const auto& [i, name] : {std::pair(1, "cos_cache"), std::pair(2, "sin_cache")}) {
    NN_ASSIGN(Value* const angles, AnglesAt(ctx, static_cast<size_t>(i), name));
    const Dim& pairs = angles->type().dim(2);
    const Dim& rotated = dim == 0 ? size : dim;
    if (pairs.is_const() && rotated.is_const() && !(pairs * 2 == rotated))
      return ModelError("{} is {} for {} elements", name, angles->type().ToString(),
                        rotated.ToString());
    operands.push_back(ExpandDims(angles, {is_packed ? 2 : 1}));
  }
  return EmitRotary(ctx, std::move(operands), is_packed);
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

Status WriteAttention(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<AttentionAttrs>();
  std::vector<std::string> inputs;
  for (const Value* v : node.inputs()) inputs.push_back(ctx.NameOf(v));
  // From version 24 on, a shorter mask is not broadcast but masks the other keys.
  const Value* const mask = node.input(3);
  const Dim& keys = node.input(1)->type().dim(2);
  if (mask != nullptr && (mask->type().rank() == 0 || !(mask->type().dims->back() == keys))) {
    NN_ASSIGN(const std::string shape, ctx.AddDims({keys}, "keys"));
    inputs[3] = ctx.AddValue("Expand", {inputs[3], shape}, mask->name());
  }
  pb::NodeProto* out =
      ctx.AddNode(node, "Attention", {{ctx.NameOf(node.output())}, std::move(inputs)});
  if (a.scale != 0) SetFloat(out, "scale", a.scale);
  if (a.softcap != 0) SetFloat(out, "softcap", a.softcap);
  if (a.is_causal) SetInt(out, "is_causal", 1);
  return {};
}

// The axis of the heads, along which all angles are equal: 1 or 2; 0 if there is none.
int HeadAxis(const Node& rotary) {
  const Dims& cos = *rotary.input(1)->type().dims;
  if (rotary.input(0)->type().rank() != 4) return 0;
  const auto is_one = [&](size_t axis) {
    return cos.size() + axis < 4 || cos[cos.size() + axis - 4] == 1;
  };
  // A vector of angles, or one for each position of [B, heads, L, D], as well as of any heads.
  if (is_one(1)) return 1;
  return is_one(2) ? 2 : 0;
}

// The angles as [B, L, R / 2].
Result<std::string> WriteAngles(ExportContext& ctx, const Node& node, size_t input, int heads) {
  const Value* v = node.input(input);
  const Dims& x = *node.input(0)->type().dims;
  const Dims& dims = *v->type().dims;
  const Dims want = {x[0], x[heads == 1 ? 2 : 1], dims.back()};
  std::string name = ctx.NameOf(v);
  if (dims.size() + static_cast<size_t>(heads) >= 4) {
    Dims own = dims;
    own.erase(own.end() - (4 - heads));
    const int64_t axis = std::ssize(dims) - (4 - heads);
    name = ctx.AddValue("Squeeze", {name, ctx.AddInts({axis}, "axes")}, v->name());
    if (own == want) return name;
  } else if (dims == want) {
    return name;
  }
  NN_ASSIGN(const std::string shape, ctx.AddDims(want, "shape"));
  return ctx.AddValue("Expand", {name, shape}, v->name());
}

Status AddReshape(ExportContext& ctx, const std::string& x, const Dims& dims,
                  const std::string& y) {
  NN_ASSIGN(const std::string shape, ctx.AddDims(dims, "shape"));
  SetInt(ctx.AddHelper("Reshape", {{y}, {x, shape}}), "allowzero", 1);
  return {};
}

Status WriteRotaryEmbedding(ExportContext& ctx, const Node& node) {
  const int heads = HeadAxis(node);
  const Dims& x = *node.input(0)->type().dims;
  const bool is_packed = heads == 2;
  std::string in = ctx.NameOf(node.input(0));
  const std::string out = ctx.NameOf(node.output());
  std::string y = out;
  if (is_packed) {
    const std::string packed = ctx.NewName(node.input(0)->name());
    NN_RETURN_IF_ERROR(AddReshape(ctx, in, {x[0], x[1], x[2] * x[3]}, packed));
    in = packed;
    y = ctx.NewName(node.output()->name());
  }
  NN_ASSIGN(std::string cos, WriteAngles(ctx, node, 1, heads));
  NN_ASSIGN(std::string sin, WriteAngles(ctx, node, 2, heads));
  pb::NodeProto* rotary =
      ctx.AddNode(node, "RotaryEmbedding", {{y}, {std::move(in), std::move(cos), std::move(sin)}});
  if (node.attrs<RotaryEmbeddingAttrs>().interleaved) SetInt(rotary, "interleaved", 1);
  const Dim rotated = node.input(1)->type().dims->back() * 2;
  if (rotated != x[3]) SetInt(rotary, "rotary_embedding_dim", rotated.value());
  if (!is_packed) return {};
  SetInt(rotary, "num_heads", x[2].value());
  return AddReshape(ctx, y, x, out);
}

std::optional<std::string> WhyNotRotaryEmbedding(const Node& node) {
  const Dims& x = *node.input(0)->type().dims;
  if (node.input(1)->type().dims->back() == 0)
    return "it rotates no elements; a rotary_embedding_dim of 0 means all";
  const int heads = HeadAxis(node);
  if (heads == 0)
    return "its input must be [batch, heads, positions, elements] or [batch, positions, heads, "
           "elements], with the same angles for all heads";
  if (heads == 2 && !x[2].is_const()) return "the number of heads must be known";
  if (heads == 2 && x[2] == 0) return "RotaryEmbedding of ONNX needs at least one head";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kAttentionImports[] = {
    {.op = "Attention", .since = 23, .import = ImportAttention},
    {.op = "RotaryEmbedding", .since = 23, .import = ImportRotaryEmbedding, .inputs = 1},
};

constexpr ExportRow kAttentionExports[] = {
    {.op = "attention", .write = WriteAttention, .min_opset = Since<23>},
    {.op = "rotary_embedding",
     .write = WriteRotaryEmbedding,
     .why_not = WhyNotRotaryEmbedding,
     .min_opset = Since<23>},
};

}  // namespace

Family AttentionFamily() {
  return {.imports = kAttentionImports, .exports = kAttentionExports};
}

}  // namespace nn::onnx
