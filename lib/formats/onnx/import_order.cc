#include "formats/onnx/import.h"
#include "ops/order.h"

namespace nn::onnx {
namespace {

template <bool largest>
Status ImportArg(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  ArgAttrs a;
  a.axis = ctx.Int("axis", 0);
  a.keep_dims = ctx.Int("keepdims", 1) == 1;
  a.select_last_index = ctx.Int("select_last_index", 0) != 0;
  return ctx.Emit(largest ? "arg_max" : "arg_min", {x}, a);
}

Status EmitTopK(ImportContext& ctx, Value* k) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  TopKAttrs a;
  a.axis = ctx.Int("axis", -1);
  a.largest = ctx.Int("largest", 1) != 0;
  a.sorted = ctx.Int("sorted", 1) != 0;
  return ctx.Emit("top_k", {x, k}, a);
}

// Before version 10, k is an attribute.
Status ImportTopK1(ImportContext& ctx) {
  if (!ctx.HasAttr("k")) return ModelError("attribute k is missing");
  return EmitTopK(ctx, ctx.Constant(Tensor::Ints({ctx.Int("k", 0)})));
}

Status ImportTopK10(ImportContext& ctx) {
  NN_ASSIGN(Value* const k, ctx.Required(1));
  return EmitTopK(ctx, k);
}

Status ImportCumSum(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const axis, ctx.Required(1));
  CumSumAttrs a;
  a.exclusive = ctx.Int("exclusive", 0) != 0;
  a.reverse = ctx.Int("reverse", 0) != 0;
  const Tensor* constant = ctx.Constant(1);
  if (constant == nullptr) return ctx.Emit("cum_sum", {x, axis}, a);
  if (constant->elements() != 1) return ModelError("axis has {} elements", constant->elements());
  a.axis = constant->GetInt(0);
  return ctx.Emit("cum_sum", {x}, a);
}

}  // namespace

void AddOrderImports(ImportTable& t) {
  t.Add("", "ArgMax", 1, ImportArg<true>);
  t.Add("", "ArgMin", 1, ImportArg<false>);
  t.Add("", "TopK", 1, ImportTopK1);
  t.Add("", "TopK", 10, ImportTopK10);
  t.Add("", "CumSum", 11, ImportCumSum);
}

}  // namespace nn::onnx
