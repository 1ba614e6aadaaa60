#include "ops/nn/attention/rotary_embedding.h"

#include <limits>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/families.h"
#include "ops/support/composition.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> RotaryEmbeddingAttrs::Fields() {
  static const AttrField fields[] = {Field<&RotaryEmbeddingAttrs::interleaved>("interleaved")};
  return fields;
}

namespace {

Status CheckAngles(const InferContext& ctx) {
  const Dims &x = *ctx.in(0).dims, &cos = *ctx.in(1).dims, &sin = *ctx.in(2).dims;
  const auto differ = [](const Dim& a, const Dim& b) {
    return a.is_const() && b.is_const() && a != b;
  };
  bool ok = cos.size() == sin.size() && cos.size() <= x.size();
  for (size_t i = 0; ok && i < cos.size(); ++i) {
    const Dim& to = x[x.size() - cos.size() + i];
    const bool is_last = i + 1 == cos.size();
    ok = !differ(cos[i], sin[i]) && (is_last || cos[i] == 1 || !differ(cos[i], to));
  }
  const Dim& size = x.back();
  if (ok && size.is_const() && cos.back().is_const()) ok = 2 * cos.back().value() <= size.value();
  if (!ok)
    return ModelError("cos {} and sin {} do not fit x {}", ctx.in(1).ToString(),
                      ctx.in(2).ToString(), ctx.in(0).ToString());
  if (!cos.back().is_const())
    return UnsupportedError("rotary_embedding of {} pairs; the number must be known",
                            cos.back().ToString());
  return {};
}

Status InferRotaryEmbedding(InferContext& ctx) {
  for (const size_t i : {0, 1, 2}) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, i, 1));
    NN_RETURN_IF_ERROR(RequireReal(ctx, i));
  }
  NN_RETURN_IF_ERROR(SameDType(ctx, {0, 1, 2}));
  NN_RETURN_IF_ERROR(CheckAngles(ctx));
  ctx.set_out(0, Type(ctx.in(0).dtype, *ctx.in(0).dims));
  return {};
}

Result<bool> DecomposeRotaryEmbedding(Graph& graph, Node& node) {
  const bool interleaved = node.attrs<RotaryEmbeddingAttrs>().interleaved;
  const Composition c(graph, node);
  NN_ASSIGN(Value* const x, c.Operand(0));
  NN_ASSIGN(Value* const cos, c.Operand(1));
  NN_ASSIGN(Value* const sin, c.Operand(2));
  const int64_t last = x->type().rank() - 1;
  const int64_t pairs = cos->type().dims->back().value();
  const auto part = [&](int64_t start, int64_t end, int64_t step) {
    return c.Add("slice", {x}, SliceAttrs{{last}, {start}, {end}, {step}});
  };
  NN_ASSIGN(Value* const a, interleaved ? part(0, 2 * pairs, 2) : part(0, pairs, 1));
  NN_ASSIGN(Value* const b, interleaved ? part(1, 2 * pairs, 2) : part(pairs, 2 * pairs, 1));
  const auto sum = [&](std::string_view op, Value* with_a, Value* with_b) -> Result<Value*> {
    NN_ASSIGN(Value* const left, c.Add("mul", {a, with_a}));
    NN_ASSIGN(Value* const right, c.Add("mul", {b, with_b}));
    return c.Add(op, {left, right});
  };
  NN_ASSIGN(Value * first, sum("sub", cos, sin));
  NN_ASSIGN(Value * second, sum("add", sin, cos));
  std::vector<Value*> parts;
  if (interleaved) {
    for (Value** v : {&first, &second}) {
      NN_ASSIGN(*v, c.Add("expand_dims", {*v}, AxesAttrs{{last + 1}}));
    }
    NN_ASSIGN(Value * both, c.Add("concat", {first, second}, ConcatAttrs{last + 1}));
    Dims dims = *x->type().dims;
    dims.back() = Dim(2 * pairs);
    NN_ASSIGN(both, c.Add("reshape", {both}, ReshapeAttrs{std::move(dims), false}));
    parts = {both};
  } else {
    parts = {first, second};
  }
  if (!(x->type().dims->back() == 2 * pairs)) {
    NN_ASSIGN(Value* const rest, part(2 * pairs, std::numeric_limits<int64_t>::max(), 1));
    parts.push_back(rest);
  }
  Value* y = parts.front();
  if (parts.size() > 1) {
    NN_ASSIGN(y, c.Add("concat", std::move(parts), ConcatAttrs{last}));
  }
  NN_RETURN_IF_ERROR(c.Replace(y));
  return true;
}

}  // namespace

void RegisterRotaryEmbeddingOps(OpRegistry& ops) {
  OpDef op;
  op.name = "rotary_embedding";
  op.summary = "rotation of pairs of elements by position-dependent angles";
  op.category = Category::kArithmetic;
  op.attrs = AttrsInfoOf<RotaryEmbeddingAttrs>();
  op.inputs = {{"x"}, {"cos"}, {"sin"}};
  op.infer = InferRotaryEmbedding;
  op.decompose = DecomposeRotaryEmbedding;
  ops.Add(std::move(op));
}

}  // namespace nn
