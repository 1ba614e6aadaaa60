// Products of matrices, and attention.
#include <string>

#include "base/text/text.h"
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/operands.h"
#include "ops/array/arrange/tile.h"
#include "ops/math/matmul.h"
#include "ops/nn/attention/attention.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

Status ImportDense(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(Value* const weight, ctx.In("weight"));
  NN_ASSIGN(Value* const bias, ctx.Optional("bias"));
  return ctx.EmitCast(Apply("matmul", InOneType({x, weight, bias}), MatmulAttrs{false, true}));
}

Status ImportMatmul(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(Value* const y, ctx.In("y"));
  NN_ASSIGN(const bool transpose_x, ctx.Bool("transpose_x"));
  NN_ASSIGN(const bool transpose_y, ctx.Bool("transpose_y"));
  return ctx.EmitCast(Apply("matmul", InOneType({x, y}), MatmulAttrs{transpose_x, transpose_y}));
}

// The equation with its letters in the order of the alphabet.
std::string WithFirstLetters(std::string_view equation) {
  std::string letters, out;
  for (const char c : equation) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter && letters.find(c) == std::string::npos) letters += c;
    if (c != ' ') out += is_letter ? static_cast<char>('a' + letters.find(c)) : c;
  }
  return out;
}

// Matrices along the axes -3 and -1.
Status ImportEinsum(ImportContext& ctx) {
  NN_ASSIGN(const std::string equation, ctx.String("equation"));
  NN_ASSIGN(const std::vector<Value*> values, ctx.List("values"));
  const std::string form = WithFirstLetters(equation);
  if (form != "abcd,adce->abce" && form != "abc,cbd->abd")
    return UnsupportedError("equation {} is unsupported", Quote(equation));
  if (values.size() != 2) return ModelError("input values has {} elements, not 2", values.size());
  const auto swapped =
      form.starts_with("abcd") ? std::vector<int64_t>{0, 2, 1, 3} : std::vector<int64_t>{1, 0, 2};
  return ctx.EmitTerm(
      Transpose(Matmul(Transpose(values[0], swapped), Transpose(values[1], swapped)), swapped));
}

// A value of three or more axes as one of four, of which the first two are the batch and heads.
Term WithHeads(Value* v) {
  const Dims& dims = *v->type().dims;
  if (dims.size() == 4) return v;
  Dims to(dims.end() - 3, dims.end());
  to.insert(to.begin(), Product(Dims(dims.begin(), dims.end() - 3)));
  return Reshape(v, std::move(to));
}

// The mask for queries of this shape: broadcast along the axes that WithHeads() joins.
Result<Term> MaskWithHeads(ImportContext& ctx, const Dims& query) {
  if (!ctx.Has("attn_mask")) return Term();
  NN_ASSIGN(Value * mask, ctx.Ranked("attn_mask"));
  const Dims& own = *mask->type().dims;
  if (own.size() < 4 || query.size() == 4) return Term(mask);
  Dims dims(query.begin(), query.end() - 3);
  dims.insert(dims.end(), own.end() - 3, own.end());
  NN_ASSIGN(mask, ctx.Add("expand", {mask}, ExpandAttrs{std::move(dims)}));
  return WithHeads(mask);
}

Status ImportAttention(ImportContext& ctx) {
  Dims dims;
  std::vector<Value*> operands;
  for (const std::string_view name : {"query", "key", "value"}) {
    NN_ASSIGN(Value* const v, ctx.Ranked(name));
    const Dims& own = *v->type().dims;
    if (operands.empty()) dims = own;
    if (own.size() < 3 || own.size() != dims.size())
      return ModelError("input {} has rank {}; must be 3 or more, as of the query", name,
                        own.size());
    dims.back() = own.back();
    NN_ASSIGN(operands.emplace_back(), ctx.Build(WithHeads(v)));
  }
  NN_ASSIGN(const Term mask, MaskWithHeads(ctx, dims));
  NN_ASSIGN(operands.emplace_back(), ctx.Build(mask));
  const Term y = Apply("attention", InOneType(operands), AttentionAttrs());
  return ctx.EmitCast(dims.size() == 4 ? y : Reshape(y, std::move(dims)));
}

// ---- Export -------------------------------------------------------------------------------------

// Whether the program stores a matrix with a row for each output, and a bias for each.
bool IsDense(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  const Type& x = node.input(0)->type();
  const Value& weight = *node.input(1);
  const Value* const bias = node.input(2);
  return IsStored(weight) && weight.type().rank() == 2 && a.transpose_b && !a.transpose_a &&
         x.rank() >= 1 && x.rank() <= 3 &&
         (bias == nullptr || (IsStored(*bias) && bias->type().rank() == 1 &&
                              bias->type().dim(0) == weight.type().dim(0)));
}

Status WriteMatmul(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  if (IsDense(node))
    return ctx.Add("linear")
        .In("x", node.input(0))
        .In("weight", node.input(1))
        .In("bias", node.input(2))
        .To(node);
  OperationWriter op = ctx.Add("matmul");
  op.In("x", node.input(0)).In("y", node.input(1));
  op.Bool("transpose_x", a.transpose_a).Bool("transpose_y", a.transpose_b);
  if (node.input(2) == nullptr) return op.To(node);
  NN_ASSIGN(const std::string product, op.Helper(node.output()->type(), node));
  return ctx.Add("add").In("x", product).In("y", node.input(2)).To(node);
}

std::optional<std::string> WhyNotMatmul(const Node& node) {
  const Value* const bias = node.input(2);
  // Type inference of a vector and several matrices gives another shape.
  if (!IsDense(node) && (node.input(0)->type().rank() < 2 || node.input(1)->type().rank() < 2))
    return "ML Programs have products of matrices";
  if (bias != nullptr && bias->type().rank() > node.output()->type().rank())
    return "the bias has more axes than the product";
  return std::nullopt;
}

// The operands have the same heads.
Status WriteAttention(ExportContext& ctx, const Node& node) {
  return ctx.Add("scaled_dot_product_attention")
      .In("query", node.input(0))
      .In("key", node.input(1))
      .In("value", node.input(2))
      .In("attn_mask", node.input(3))
      .To(node, 1);
}

std::optional<std::string> WhyNotAttention(const Node& node) {
  const auto& a = node.attrs<AttentionAttrs>();
  const auto heads = [&](size_t i) { return node.input(i)->type().dim(1); };
  if (a.scale != 0) return "ML Programs have attention with the scale of its definition";
  if (a.softcap != 0) return "ML Programs have no attention with a softcap";
  if (a.is_causal) return "ML Programs have no causal attention, only masks";
  if (heads(0) != heads(1) || heads(0) != heads(2))
    return "ML Programs have attention with as many heads of keys as of queries";
  if (node.outputs().size() > 1) return "ML Programs have attention with one result";
  for (size_t i = 4; i < node.inputs().size(); ++i)
    if (node.input(i) != nullptr) return "ML Programs have attention of all keys";
  return std::nullopt;
}

}  // namespace

Family LinearFamily() {
  static constexpr ImportRow kImports[] = {
      {"einsum", ImportEinsum},
      {"linear", ImportDense},
      {"matmul", ImportMatmul},
      {"scaled_dot_product_attention", ImportAttention},
  };
  static constexpr ExportRow kExports[] = {
      {"attention", WriteAttention, WhyNotAttention},
      {"matmul", WriteMatmul, WhyNotMatmul},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program
