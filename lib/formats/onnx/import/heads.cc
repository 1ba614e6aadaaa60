#include "formats/onnx/import/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ops/nn/attention/attention.h"
#include "ops/nn/attention/rotary_embedding.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {

Status RequireRanks(const ImportContext& ctx, const Value* v, std::string_view name, int least,
                    int most) {
  if (!v->type().ranked())
    return UnsupportedError("{} needs {} of known rank", ctx.node().op_type(), name);
  if (v->type().rank() < least || v->type().rank() > most)
    return ModelError("{} is {}; it must have rank {}{}", name, v->type().ToString(), least,
                      least == most ? "" : fmt::format(" or {}", most));
  return {};
}

Result<Value*> SplitHeads(ImportContext& ctx, Value* v, int64_t heads, std::string_view name) {
  const Type& type = v->type();
  if (heads <= 0) return ModelError("{} is {}; it must be positive", name, heads);
  const Dim& hidden = type.dim(2);
  if (hidden.is_const() && hidden.value() % heads != 0)
    return ModelError("{} elements are not divisible by {} = {}", hidden.ToString(), name, heads);
  return ctx.Build(
      Reshape(v, {type.dim(0), type.dim(1), Dim(heads), Dim::FloorDiv(hidden, heads)}));
}

Term JoinHeads(Value* v) {
  const Type& type = v->type();
  return Reshape(ExchangeHeads(v), {type.dim(0), type.dim(2), type.dim(1) * type.dim(3)});
}

Term ExchangeHeads(Term v) {
  return Transpose(std::move(v), {0, 2, 1, 3});
}

Result<Value*> WithPast(ImportContext& ctx, size_t i, std::string_view name, Term v) {
  Value* const past = ctx.input(i);
  if (past == nullptr) return ctx.Build(v);
  NN_RETURN_IF_ERROR(RequireRanks(ctx, past, name, 4, 4));
  return ctx.Build(Concat({past, std::move(v)}, 2));
}

// ---- Masks --------------------------------------------------------------------------------------

namespace {

bool IsWindowed(const Visibility& seen) {
  return seen.left >= 0 || seen.right >= 0;
}

// The size of a window, less than what overflows when a position is added.
int64_t WindowSize(int64_t size) {
  return std::min(size, int64_t{1} << 48);
}

// The positions of the queries among the keys: [L, 1] or, if they differ in a batch, [B, 1, L, 1].
Term QueryPositions(const Visibility& seen, Value* q) {
  const Term own = AxisPositions(q, 2);
  const Term at = ExpandDims(own, {1});
  if (seen.past != nullptr) return at + SizeOfAxis(seen.past, 2);
  if (seen.valid.is_absent()) return at;
  return at + ExpandDims(seen.valid - SizeOfAxis(q, 2), {1, 2, 3});
}

}  // namespace

bool Visibility::is_plain() const {
  const bool has_past = past != nullptr && !(past->type().dim(2) == 0);
  return valid.is_absent() && !IsWindowed(*this) && !(is_causal && has_past);
}

Term VisibilityMask(const Visibility& seen, Value* q, Value* k) {
  const Term key = AxisPositions(k, 2);
  Term mask;
  const auto require = [&](std::string_view relation, const Term& bound) {
    const Term holds = Apply(relation, {key, bound});
    mask = mask.is_absent() ? holds : And(mask, holds);
  };
  if (seen.is_causal || IsWindowed(seen)) {
    const Term query = QueryPositions(seen, q);
    if (seen.is_causal) require("less_equal", query);
    if (seen.left >= 0) require("greater_equal", query - WindowSize(seen.left));
    if (seen.right >= 0) require("less_equal", query + WindowSize(seen.right));
  }
  if (!seen.valid.is_absent()) require("less", ExpandDims(seen.valid, {1, 2, 3}));
  return mask;
}

Status EmitRotary(ImportContext& ctx, Terms operands, bool is_packed) {
  NN_ASSIGN(Value* const y, ctx.Add("rotary_embedding", std::move(operands),
                                    RotaryEmbeddingAttrs{ctx.Int("interleaved", 0) != 0}));
  if (!is_packed) return ctx.EmitTerm(y);
  const Type& type = y->type();
  return ctx.EmitTerm(Reshape(y, {type.dim(0), type.dim(1), type.dim(2) * type.dim(3)}));
}

Result<Term> JoinMasks(ImportContext& ctx, Value* mask, Term visible) {
  if (mask == nullptr) return visible;
  if (visible.is_absent()) return mask;
  if (mask->dtype() == DType::kBool) return And(mask, std::move(visible));
  NN_ASSIGN(Value* const zero, ctx.Number(mask->dtype(), 0));
  return mask + Select(std::move(visible), zero, -std::numeric_limits<double>::infinity());
}

}  // namespace nn::onnx
