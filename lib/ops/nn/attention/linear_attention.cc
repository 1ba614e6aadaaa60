#include "ops/nn/attention/linear_attention.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/arith.h"
#include "base/checked_math.h"
#include "ir/op_def.h"
#include "numeric/scalar_functions.h"
#include "ops/families.h"
#include "ops/support/composition.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> LinearAttentionAttrs::Fields() {
  static const AttrField fields[] = {Field<&LinearAttentionAttrs::q_heads>("q_heads"),
                                     Field<&LinearAttentionAttrs::kv_heads>("kv_heads"),
                                     Field<&LinearAttentionAttrs::scale>("scale")};
  return fields;
}

namespace {

enum LinearInput : size_t { kQuery, kKey, kValue, kState, kDecay, kBeta };

Status RequireSize(const InferContext& ctx, size_t input, int axis, const Dim& want) {
  const Dim& size = ctx.in(input).dim(axis);
  if (!size.is_const() || !want.is_const() || size == want) return {};
  return ModelError("axis {} of input {} {} is {}; must be {}", axis, input,
                    ctx.in(input).ToString(), size.ToString(), want.ToString());
}

// The size of a head; kModel if the packed size is not a multiple of the number of heads.
Result<Dim> HeadSize(const InferContext& ctx, size_t input, int64_t heads) {
  const Dim& packed = ctx.in(input).dim(2);
  if (packed.is_const() && packed.value() % heads != 0)
    return ModelError("input {} is {}; its last axis is not a multiple of {} heads", input,
                      ctx.in(input).ToString(), heads);
  return Dim::FloorDiv(packed, heads);
}

Status CheckGates(const InferContext& ctx, int64_t heads, const Dim& depth) {
  if (ctx.has(kDecay)) {
    const Dim& size = ctx.in(kDecay).dim(2);
    if (!(size == heads)) NN_RETURN_IF_ERROR(RequireSize(ctx, kDecay, 2, Dim(heads) * depth));
  }
  if (ctx.has(kBeta) && !(ctx.in(kBeta).dim(2) == 1))
    NN_RETURN_IF_ERROR(RequireSize(ctx, kBeta, 2, heads));
  return {};
}

Status InferLinearAttention(InferContext& ctx) {
  const auto& a = ctx.attrs<LinearAttentionAttrs>();
  if (a.q_heads < 1 || a.kv_heads < 1 || a.q_heads % a.kv_heads != 0)
    return ModelError("the number of query heads {} is not a multiple of {}", a.q_heads,
                      a.kv_heads);
  if (!std::isfinite(a.scale)) return ModelError("scale is {}; must be finite", a.scale);
  for (const size_t i : {kQuery, kKey, kValue, kState, kDecay, kBeta}) {
    if (!ctx.has(i)) continue;
    NN_RETURN_IF_ERROR(RequireReal(ctx, i));
    if (ctx.in(i).dtype == DType::kF64) return UnsupportedError("f64 is not supported");
    const int rank = i == kState ? 4 : 3;
    NN_RETURN_IF_ERROR(RequireRank(ctx, i, rank, rank));
    NN_RETURN_IF_ERROR(RequireSize(ctx, i, 0, ctx.in(kQuery).dim(0)));
    if (i != kState) NN_RETURN_IF_ERROR(RequireSize(ctx, i, 1, ctx.in(kQuery).dim(1)));
  }
  NN_RETURN_IF_ERROR(SameDType(ctx, {kQuery, kKey, kValue, kDecay, kBeta}));
  NN_ASSIGN(const Dim depth, HeadSize(ctx, kQuery, a.q_heads));
  NN_ASSIGN(const Dim key_depth, HeadSize(ctx, kKey, a.kv_heads));
  if (depth.is_const() && key_depth.is_const() && depth != key_depth)
    return ModelError("heads of the query have {} elements, of the key {}", depth.ToString(),
                      key_depth.ToString());
  NN_ASSIGN(const Dim width, HeadSize(ctx, kValue, a.kv_heads));
  NN_RETURN_IF_ERROR(CheckGates(ctx, a.kv_heads, depth));
  const Type& q = ctx.in(kQuery);
  const Dims state = {q.dim(0), Dim(a.kv_heads), depth, width};
  if (ctx.has(kState))
    for (int axis = 1; axis < 4; ++axis)
      NN_RETURN_IF_ERROR(RequireSize(ctx, kState, axis, state[static_cast<size_t>(axis)]));
  ctx.set_out(0, Type(q.dtype, {q.dim(0), q.dim(1), Dim(a.q_heads) * width}));
  if (ctx.output_count() > 1)
    ctx.set_out(1, Type(ctx.has(kState) ? ctx.in(kState).dtype : q.dtype, state));
  return {};
}

// The evaluation of a node. Positions are those of a batch, b * T + t.
class LinearAttention {
 public:
  explicit LinearAttention(const EvalContext& ctx)
      : attrs_(ctx.attrs<LinearAttentionAttrs>()),
        q_(ctx.in(kQuery)),
        k_(ctx.in(kKey)),
        v_(ctx.in(kValue)),
        steps_(ctx.in(kQuery).dim(1)),
        depth_(ctx.in(kQuery).dim(2) / attrs_.q_heads),
        width_(ctx.in(kValue).dim(2) / attrs_.kv_heads),
        scale_(attrs_.scale != 0 ? attrs_.scale : 1.0f / std::sqrt(static_cast<float>(depth_))),
        update_(static_cast<size_t>(width_)) {
    if (ctx.has(kDecay)) {
      decay_.emplace(ctx.in(kDecay));
      decays_ = ctx.in(kDecay).dim(2);
    }
    if (ctx.has(kBeta)) {
      beta_.emplace(ctx.in(kBeta));
      betas_ = ctx.in(kBeta).dim(2);
    }
  }

  int64_t head_elements() const { return depth_ * width_; }

  // The steps of one head of a batch, from its state.
  void Run(int64_t batch, int64_t head, float* state, float* y) {
    const int64_t group = attrs_.q_heads / attrs_.kv_heads;
    for (int64_t t = 0; t < steps_; ++t) {
      const int64_t position = batch * steps_ + t;
      if (decay_) Decay(position, head, state);
      Write(position, head, state);
      for (int64_t h = head * group; h < (head + 1) * group; ++h) {
        const float* const q = q_.data() + (position * attrs_.q_heads + h) * depth_;
        float* const to = y + (position * attrs_.q_heads + h) * width_;
        for (int64_t m = 0; m < width_; ++m) to[m] = scale_ * Read(q, state, m);
      }
    }
  }

 private:
  void Decay(int64_t position, int64_t head, float* state) const {
    const bool per_row = decays_ != attrs_.kv_heads;
    for (int64_t d = 0; d < depth_; ++d) {
      const int64_t at = position * decays_ + (per_row ? head * depth_ + d : head);
      const float factor = ScalarFunctions::Exp((*decay_)[at]);
      for (int64_t m = 0; m < width_; ++m) state[d * width_ + m] *= factor;
    }
  }

  void Write(int64_t position, int64_t head, float* state) {
    const float* const k = k_.data() + (position * attrs_.kv_heads + head) * depth_;
    const float* const v = v_.data() + (position * attrs_.kv_heads + head) * width_;
    std::copy_n(v, width_, update_.data());
    if (beta_) {
      const float beta = (*beta_)[position * betas_ + (betas_ == 1 ? 0 : head)];
      for (int64_t m = 0; m < width_; ++m)
        update_[static_cast<size_t>(m)] = beta * (v[m] - Read(k, state, m));
    }
    for (int64_t d = 0; d < depth_; ++d)
      for (int64_t m = 0; m < width_; ++m)
        state[d * width_ + m] = Fma(k[d], update_[static_cast<size_t>(m)], state[d * width_ + m]);
  }

  // The product of a vector and a column of the state.
  float Read(const float* row, const float* state, int64_t column) const {
    float sum = 0;
    for (int64_t d = 0; d < depth_; ++d) sum = Fma(row[d], state[d * width_ + column], sum);
    return sum + 0.0f;
  }

  const LinearAttentionAttrs& attrs_;
  Reals<float> q_, k_, v_;
  std::optional<Reals<float>> decay_, beta_;
  int64_t decays_ = 0, betas_ = 0;  // of a position
  int64_t steps_, depth_, width_;
  float scale_;
  std::vector<float> update_;
};

Status EvalLinearAttention(EvalContext& ctx) {
  const int64_t heads = ctx.attrs<LinearAttentionAttrs>().kv_heads;
  LinearAttention attention(ctx);
  NN_ASSIGN(auto y, RealOutput<float>::Create(ctx));
  const int64_t each = attention.head_elements();
  const int64_t batches = ctx.in(kQuery).dim(0);
  std::vector<float> states(static_cast<size_t>(batches * heads * each), 0.0f);
  if (ctx.has(kState)) {
    const Reals<float> given(ctx.in(kState));
    std::copy(given.span().begin(), given.span().end(), states.begin());
  }
  for (int64_t i = 0; i < batches * heads; ++i)
    attention.Run(i / heads, i % heads, states.data() + i * each, y.data());
  y.Finish();
  if (ctx.output_count() > 1) {
    NN_ASSIGN(auto state, RealOutput<float>::Create(ctx, 1));
    std::copy(states.begin(), states.end(), state.data());
    state.Finish();
  }
  return {};
}

// Three products with each element of a state at each step, one of them for each head of q.
std::optional<int64_t> LinearAttentionMultiplyAdds(const Node& node) {
  const auto q = node.input(kQuery)->type().const_dims();
  const auto v = node.input(kValue)->type().const_dims();
  const auto& a = node.attrs<LinearAttentionAttrs>();
  if (!q || !v) return std::nullopt;
  return CheckedElements(std::vector<int64_t>{3, (*q)[0], (*q)[1], (*q)[2], (*v)[2] / a.kv_heads});
}

}  // namespace

void RegisterLinearAttentionOps(OpRegistry& ops) {
  OpDef op;
  op.name = "linear_attention";
  op.summary = "attention with keys and values that are summed up in a state";
  op.category = Category::kMatmul;
  op.attrs = AttrsInfoOf<LinearAttentionAttrs>();
  op.inputs = {{"q"},
               {"k"},
               {"v"},
               {"state", Arity::kOptional},
               {"decay", Arity::kOptional},
               {"beta", Arity::kOptional}};
  op.outputs = {{"y"}, {"state"}};
  op.infer = InferLinearAttention;
  op.eval = EvalLinearAttention;
  op.multiply_adds = LinearAttentionMultiplyAdds;
  ops.Add(std::move(op));
}

}  // namespace nn
