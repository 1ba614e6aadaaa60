#include "ops/nn/attention/rotary_embedding.h"

#include <limits>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/slice.h"
#include "ops/families.h"
#include "ops/support/composition.h"
#include "ops/support/term_ops.h"
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
  Composition c(graph, node);
  const Term x = c.Operand(0), cos = c.Operand(1), sin = c.Operand(2);
  const Dims& dims = *node.input(0)->type().dims;
  const int64_t last = node.input(0)->type().rank() - 1;
  const int64_t pairs = node.input(1)->type().dims->back().value();
  const Term a = interleaved ? Apply("slice", {x}, SliceAttrs{{last}, {0}, {2 * pairs}, {2}})
                             : Slice(x, last, 0, pairs);
  const Term b = interleaved ? Apply("slice", {x}, SliceAttrs{{last}, {1}, {2 * pairs}, {2}})
                             : Slice(x, last, pairs, 2 * pairs);
  const Term first = a * cos - b * sin, second = a * sin + b * cos;
  std::vector<Term> parts = {first, second};
  if (interleaved) {
    Dims joined = dims;
    joined.back() = Dim(2 * pairs);
    const Term both =
        Concat({ExpandDims(first, {last + 1}), ExpandDims(second, {last + 1})}, last + 1);
    parts = {Reshape(both, std::move(joined))};
  }
  if (!(dims.back() == 2 * pairs))
    parts.push_back(Slice(x, last, 2 * pairs, std::numeric_limits<int64_t>::max()));
  return c.Replace(Concat(std::move(parts), last));
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
