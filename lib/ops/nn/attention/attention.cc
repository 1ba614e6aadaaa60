#include "ops/nn/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ir/text/number.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/families.h"
#include "ops/math/matmul.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/support/composition.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> AttentionAttrs::Fields() {
  static const AttrField fields[] = {Field<&AttentionAttrs::scale>("scale"),
                                     Field<&AttentionAttrs::softcap>("softcap"),
                                     Field<&AttentionAttrs::is_causal>("is_causal")};
  return fields;
}

// ---- The parts ----------------------------------------------------------------------------------

Term AxisPositions(Value* value, int axis) {
  const Dim& size = value->type().dim(axis);
  const Term limit = size.is_const()
                         ? Term(Tensor::Scalar(size.value()))
                         : Reshape(Apply("shape_of", {value}, ShapeOfAttrs{axis, axis + 1}), {});
  return Apply("range", {0, limit, 1});
}

namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

// Whether a row of a constant mask may exclude all keys. In a causal attention, query i has the
// keys 0 to i; a row that several queries share must have a key for the first of them.
bool MayMaskRows(const Tensor& mask, bool is_causal, int64_t keys) {
  const auto rank = static_cast<size_t>(mask.rank());
  const int64_t columns = rank == 0 ? 1 : mask.dims()[rank - 1];
  const int64_t rows = rank < 2 ? 1 : mask.dims()[rank - 2];
  if (columns == 0 || keys == 0) return true;
  const bool is_bool = mask.dtype() == DType::kBool;
  const auto is_open = [&](int64_t i) {
    return is_bool ? mask.GetInt(i) != 0 : mask.GetDouble(i) != kMasked;
  };
  for (int64_t first = 0; first < mask.elements(); first += columns) {
    const int64_t query = first / columns % rows;
    const int64_t most = is_causal ? std::min(columns, query + 1) : columns;
    bool any = false;
    for (int64_t i = 0; i < most && !any; ++i) any = is_open(first + i);
    if (!any) return true;
  }
  return false;
}

}  // namespace

// sqrt(scale), computed in float32 whatever the type of the operands is; absent if it is 1.
Term AttentionParts::Factor(Value* q, float scale) const {
  const Dim& size = q->type().dim(3);
  if (scale == 0 && size.is_const()) scale = 1.0f / std::sqrt(static_cast<float>(size.value()));
  if (scale == 1) return {};
  if (scale != 0) return *Number(dtype_, std::sqrt(scale));
  const Term width = Cast(Apply("shape_of", {q}, ShapeOfAttrs{3, 4}), DType::kF32);
  const Term factor = Apply("sqrt", {1 / Apply("sqrt", {width})});
  return dtype_ == DType::kF32 ? factor : Cast(factor, dtype_);
}

Term AttentionParts::GroupedMask(Value* mask) const {
  const int rank = mask->type().rank();
  if (groups_ == 1 || rank < 3) return mask;
  const int64_t heads = shape_[1].value();
  const Dim& size = mask->type().dim(rank - 3);
  if (size == 1) return ExpandDims(mask, {rank - 3});
  Dims dims = *mask->type().dims;
  dims[static_cast<size_t>(rank - 3)] = Dim(heads / groups_);
  dims.insert(dims.end() - 2, Dim(groups_));
  Term of_heads = mask;
  if (!size.is_const())
    of_heads = Apply("expand", {mask}, ExpandAttrs{{Dim(heads), Dim(1), Dim(1)}});
  return Reshape(of_heads, std::move(dims));
}

// The bias, and the rows that it masks.
void AttentionParts::SetBias(const Operands& operands, const AttentionAttrs& attrs) {
  Value* const mask = operands.mask;
  if (mask == nullptr && !attrs.is_causal) return;
  const bool is_bool = mask != nullptr && mask->dtype() == DType::kBool;
  int rank = attrs.is_causal ? 2 : 0;
  Term grouped, open;  // the mask; where the bias is 0
  if (mask != nullptr) {
    grouped = GroupedMask(mask);
    const int mask_rank = mask->type().rank();
    rank = std::max(rank, mask_rank + (groups_ != 1 && mask_rank >= 3 ? 1 : 0));
  }
  if (attrs.is_causal) {
    const Term query = ExpandDims(AxisPositions(operands.q, 2), {1});
    open = Apply("less_equal", {AxisPositions(operands.k, 2), query});
  }
  if (is_bool) open = attrs.is_causal ? And(grouped, open) : grouped;
  if (open.is_absent()) {
    bias_ = grouped;
  } else {
    const Term masked = *Number(dtype_, kMasked);
    bias_ = Select(open, 0, masked);
    if (mask != nullptr && !is_bool) bias_ = grouped + bias_;
  }
  const Dim& keys = shape_[3];
  if (mask == nullptr || (mask->is_constant() && !MayMaskRows(mask->constant(), attrs.is_causal,
                                                              keys.is_const() ? keys.value() : 1)))
    return;
  const Term largest =
      rank == 0 ? bias_ : Apply("reduce_max", {bias_}, ReduceAttrs{{rank - 1}, true});
  all_masked_ = Equal(largest, kMasked);
}

Term AttentionParts::ZeroWhereMasked(const Term& v) const {
  return all_masked_.is_absent() ? v : Select(all_masked_, 0, v);
}

AttentionParts::AttentionParts(const Operands& operands, const AttentionAttrs& attrs,
                               DType softmax) {
  const Type &q = operands.q->type(), &k = operands.k->type();
  dtype_ = q.dtype;
  shape_ = {q.dim(0), q.dim(1), q.dim(2), k.dim(2)};
  // Matrices of one head are broadcast.
  if (q.dim(1).is_const() && k.dim(1).is_const() && q.dim(1) != k.dim(1) && !(k.dim(1) == 1))
    groups_ = q.dim(1).value() / k.dim(1).value();
  SetBias(operands, attrs);
  Term queries = operands.q, keys = operands.k, values = operands.v;
  if (const Term factor = Factor(operands.q, attrs.scale); !factor.is_absent()) {
    queries = queries * factor;
    keys = keys * factor;
  }
  if (groups_ != 1) {
    queries = Reshape(
        queries, {q.dim(0), Dim(q.dim(1).value() / groups_), Dim(groups_), q.dim(2), q.dim(3)});
    keys = ExpandDims(keys, {2});
    values = ExpandDims(values, {2});
  }
  products_ = Apply("matmul", {queries, keys}, MatmulAttrs{false, true});
  capped_ = products_;
  if (attrs.softcap != 0) {
    const Term cap = *Number(dtype_, attrs.softcap);
    capped_ = Apply("tanh", {capped_ / cap}) * cap;
  }
  scores_ = bias_.is_absent() ? capped_ : capped_ + bias_;
  const bool casts = softmax != DType::kUnknown && softmax != dtype_;
  weights_ = Apply("softmax", {casts ? Cast(scores_, softmax) : scores_}, SoftmaxAttrs{});
  if (casts) weights_ = Cast(weights_, dtype_);
  y_ = ZeroWhereMasked(Matmul(weights_, values));
  if (groups_ != 1) y_ = Reshape(y_, {q.dim(0), q.dim(1), q.dim(2), operands.v->type().dim(3)});
}

Term AttentionParts::At(Stage stage) const {
  const Term v = stage == Stage::kProducts ? products_
                 : stage == Stage::kCapped ? capped_
                 : stage == Stage::kScores ? scores_
                                           : ZeroWhereMasked(weights_);
  return groups_ == 1 ? v : Reshape(v, shape_);
}

// ---- The operator -------------------------------------------------------------------------------

namespace {

Status RequireSame(const InferContext& ctx, std::string_view what, size_t a, size_t b, int axis) {
  const Dim &x = ctx.in(a).dim(axis), &y = ctx.in(b).dim(axis);
  if (!x.is_const() || !y.is_const() || x == y) return {};
  return ModelError("inputs {} and {} are {} and {}: {} {} and {}", a, b, ctx.in(a).ToString(),
                    ctx.in(b).ToString(), what, x.ToString(), y.ToString());
}

Status CheckHeads(const Dim& q, const Dim& kv) {
  if (q == kv || kv == 1) return {};
  if (!q.is_const() || !kv.is_const())
    return UnsupportedError("attention of {} query heads and {} key heads: they must be known",
                            q.ToString(), kv.ToString());
  if (q == 0 || kv == 0 || q.value() % kv.value() != 0)
    return ModelError("the number of query heads {} is not a multiple of {}", q.ToString(),
                      kv.ToString());
  return {};
}

Status CheckMask(const InferContext& ctx) {
  if (!ctx.has(3)) return {};
  NN_RETURN_IF_ERROR(RequireRank(ctx, 3, 0, 4));
  const Type& mask = ctx.in(3);
  const DType dtype = ctx.in(0).dtype;
  if (mask.quantized() || (mask.dtype != DType::kBool && mask.dtype != dtype))
    return UnsupportedError("a mask of {} in an attention of {}; must be of bool or {}",
                            mask.ToString(), DTypeName(dtype), DTypeName(dtype));
  const Dims scores = {ctx.in(0).dim(0), ctx.in(0).dim(1), ctx.in(0).dim(2), ctx.in(1).dim(2)};
  NN_ASSIGN(const Dims joint, BroadcastDims(scores, *mask.dims));
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] == 1 && joint[i].is_const() && !(joint[i] == 1))
      return ModelError("mask {} does not broadcast to {}", mask.ToString(), ToString(scores));
  return {};
}

Status InferAttention(InferContext& ctx) {
  const auto& a = ctx.attrs<AttentionAttrs>();
  for (const auto& [name, value] : {std::pair("scale", a.scale), std::pair("softcap", a.softcap)})
    if (!(value >= 0) || !std::isfinite(value))
      return UnsupportedError("{} is {}; must be a positive number, or 0", name, value);
  for (const size_t i : {0, 1, 2}) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, i, 4, 4));
    NN_RETURN_IF_ERROR(RequireReal(ctx, i));
  }
  NN_RETURN_IF_ERROR(SameDType(ctx, {0, 1, 2}));
  NN_RETURN_IF_ERROR(RequireSame(ctx, "batches of", 0, 1, 0));
  NN_RETURN_IF_ERROR(RequireSame(ctx, "batches of", 0, 2, 0));
  NN_RETURN_IF_ERROR(RequireSame(ctx, "head sizes of", 0, 1, 3));
  NN_RETURN_IF_ERROR(RequireSame(ctx, "sequences of", 1, 2, 2));
  NN_RETURN_IF_ERROR(RequireSame(ctx, "heads of", 1, 2, 1));
  NN_RETURN_IF_ERROR(CheckHeads(ctx.in(0).dim(1), ctx.in(1).dim(1)));
  NN_RETURN_IF_ERROR(CheckMask(ctx));
  const Type& q = ctx.in(0);
  ctx.set_out(0, Type(q.dtype, {q.dim(0), q.dim(1), q.dim(2), ctx.in(2).dim(3)}));
  return {};
}

Result<bool> DecomposeAttention(Graph& graph, Node& node) {
  Composition c(graph, node);
  std::vector<Value*> inputs;
  for (size_t i = 0; i < 4; ++i) {
    NN_ASSIGN(inputs.emplace_back(), c.Build(c.Operand(i)));
  }
  const AttentionParts parts({inputs[0], inputs[1], inputs[2], inputs[3]},
                             node.attrs<AttentionAttrs>());
  return c.Replace(parts.y());
}

std::optional<int64_t> AttentionMultiplyAdds(const Node& node) {
  const auto q = node.input(0)->type().const_dims();
  const auto v = node.input(2)->type().const_dims();
  if (!q || !v) return std::nullopt;
  const auto scores = CheckedElements(std::vector{(*q)[0], (*q)[1], (*q)[2], (*v)[2]});
  const auto depth = CheckedAdd((*q)[3], (*v)[3]);
  return scores && depth ? CheckedMul(*scores, *depth) : std::nullopt;
}

}  // namespace

void RegisterAttentionOps(OpRegistry& ops) {
  OpDef op;
  op.name = "attention";
  op.summary = "scaled dot-product attention of several heads";
  op.category = Category::kMatmul;
  op.attrs = AttrsInfoOf<AttentionAttrs>();
  op.inputs = {{"q"}, {"k"}, {"v"}, {"mask", Arity::kOptional}};
  op.infer = InferAttention;
  op.multiply_adds = AttentionMultiplyAdds;
  op.decompose = DecomposeAttention;
  ops.Add(std::move(op));
}

}  // namespace nn
