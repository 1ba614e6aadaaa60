#include "formats/onnx/import/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ops/array/arrange/concat.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/attention/rotary_embedding.h"

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
  return ctx.Add(
      "reshape", {v},
      ReshapeAttrs{{type.dim(0), type.dim(1), Dim(heads), Dim::FloorDiv(hidden, heads)}, false});
}

Result<Value*> ExchangeHeads(ImportContext& ctx, Value* v) {
  return ctx.Add("transpose", {v}, TransposeAttrs{{0, 2, 1, 3}});
}

Result<Value*> JoinHeads(ImportContext& ctx, Value* v) {
  const Type& type = v->type();
  return ctx.Add("reshape", {v},
                 ReshapeAttrs{{type.dim(0), type.dim(1), type.dim(2) * type.dim(3)}, false});
}

Result<Value*> WithPast(ImportContext& ctx, size_t i, std::string_view name, Value* v) {
  Value* const past = ctx.input(i);
  if (past == nullptr) return v;
  NN_RETURN_IF_ERROR(RequireRanks(ctx, past, name, 4, 4));
  return ctx.Add("concat", {past, v}, ConcatAttrs{2});
}

// ---- Masks --------------------------------------------------------------------------------------

namespace {

bool IsWindowed(const Visibility& seen) {
  return seen.left >= 0 || seen.right >= 0;
}

// The size of a window as a scalar, less than what overflows when a position is added.
Result<Value*> WindowSize(ImportContext& ctx, int64_t size) {
  constexpr int64_t kMax = int64_t{1} << 48;
  return ctx.Number(DType::kI64, static_cast<double>(std::min(size, kMax)));
}

// The positions of the queries among the keys: [L, 1] or, if they differ in a batch, [B, 1, L, 1].
Result<Value*> QueryPositions(ImportContext& ctx, const AddOperator& add, const Visibility& seen,
                              Value* q) {
  NN_ASSIGN(Value * at, AxisPositions(ctx.graph(), add, q, 2));
  NN_ASSIGN(at, add("expand_dims", {at}, AxesAttrs{{1}}));
  if (seen.past != nullptr) {
    NN_ASSIGN(Value* const before, add("shape_of", {seen.past}, ShapeOfAttrs{2, 3}));
    return add("add", {at, before}, {});
  }
  if (seen.valid == nullptr) return at;
  NN_ASSIGN(Value* const queries, add("shape_of", {q}, ShapeOfAttrs{2, 3}));
  NN_ASSIGN(Value * before, add("sub", {seen.valid, queries}, {}));
  NN_ASSIGN(before, add("expand_dims", {before}, AxesAttrs{{1, 2, 3}}));
  return add("add", {at, before}, {});
}

}  // namespace

bool Visibility::is_plain() const {
  const bool has_past = past != nullptr && !(past->type().dim(2) == 0);
  return valid == nullptr && !IsWindowed(*this) && !(is_causal && has_past);
}

Result<Value*> VisibilityMask(ImportContext& ctx, const Visibility& seen, Value* q, Value* k) {
  const AddOperator add = [&](std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
    return ctx.Add(op, std::move(inputs), std::move(attrs));
  };
  NN_ASSIGN(Value* const key, AxisPositions(ctx.graph(), add, k, 2));
  Value* mask = nullptr;
  const auto require = [&](std::string_view relation, Value* bound) -> Status {
    NN_ASSIGN(Value* const holds, add(relation, {key, bound}, {}));
    if (mask == nullptr) {
      mask = holds;
    } else {
      NN_ASSIGN(mask, add("and", {mask, holds}, {}));
    }
    return {};
  };
  if (seen.is_causal || IsWindowed(seen)) {
    NN_ASSIGN(Value* const query, QueryPositions(ctx, add, seen, q));
    if (seen.is_causal) NN_RETURN_IF_ERROR(require("less_equal", query));
    if (seen.left >= 0) {
      NN_ASSIGN(Value* const size, WindowSize(ctx, seen.left));
      NN_ASSIGN(Value* const first, add("sub", {query, size}, {}));
      NN_RETURN_IF_ERROR(require("greater_equal", first));
    }
    if (seen.right >= 0) {
      NN_ASSIGN(Value* const size, WindowSize(ctx, seen.right));
      NN_ASSIGN(Value* const last, add("add", {query, size}, {}));
      NN_RETURN_IF_ERROR(require("less_equal", last));
    }
  }
  if (seen.valid != nullptr) {
    NN_ASSIGN(Value* const count, add("expand_dims", {seen.valid}, AxesAttrs{{1, 2, 3}}));
    NN_RETURN_IF_ERROR(require("less", count));
  }
  return mask;
}

Status EmitRotary(ImportContext& ctx, std::vector<Value*> inputs, bool is_packed) {
  NN_ASSIGN(Value * y, ctx.Add("rotary_embedding", std::move(inputs),
                               RotaryEmbeddingAttrs{ctx.Int("interleaved", 0) != 0}));
  if (is_packed) {
    NN_ASSIGN(y, JoinHeads(ctx, y));
  }
  ctx.SetOutput(0, y);
  return {};
}

Result<Value*> JoinMasks(ImportContext& ctx, Value* mask, Value* visible) {
  if (mask == nullptr) return visible;
  if (visible == nullptr) return mask;
  if (mask->dtype() == DType::kBool) return ctx.Add("and", {mask, visible});
  NN_ASSIGN(Value* const zero, ctx.Number(mask->dtype(), 0));
  NN_ASSIGN(Value* const masked,
            ctx.Number(mask->dtype(), -std::numeric_limits<double>::infinity()));
  NN_ASSIGN(Value* const bias, ctx.Add("select", {visible, zero, masked}));
  return ctx.Add("add", {mask, bias});
}

}  // namespace nn::onnx
