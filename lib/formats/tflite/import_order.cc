#include "formats/tflite/import.h"
#include "formats/tflite/tensor.h"
#include "ops/order.h"

namespace nn::tflite {
namespace {

Status EmitArg(ImportContext& ctx, std::string_view op, fb::TensorType type) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(const auto axis, ctx.KnownInts(1, "the axis"));
  if (axis.size() != 1) return ModelError("{} axes", axis.size());
  ArgAttrs a;
  a.axis = axis[0];
  a.keep_dims = false;
  a.output_type = DTypeOf(type);
  return ctx.Emit(op, {x}, a);
}

Status ImportArgMax(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ArgMaxOptions>());
  return EmitArg(ctx, "arg_max", o->output_type());
}

Status ImportArgMin(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ArgMinOptions>());
  return EmitArg(ctx, "arg_min", o->output_type());
}

Status ImportTopK(ImportContext& ctx) {
  TopKAttrs a;
  a.index_type = ctx.output_count() > 1 ? ctx.output_type(1).dtype : DType::kI32;
  if (a.index_type != DType::kI32 && a.index_type != DType::kI64)
    return UnsupportedError("indices of type {}", DTypeName(a.index_type));
  return ctx.Emit("top_k", ctx.inputs(), a);
}

Status ImportCumsum(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::CumsumOptions>());
  return ctx.Emit("cum_sum", ctx.inputs(), CumSumAttrs{0, o->exclusive(), o->reverse()});
}

}  // namespace

void AddOrderImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::ARG_MAX, ImportArgMax);
  t.Add(Op::ARG_MIN, ImportArgMin);
  t.Add(Op::TOPK_V2, ImportTopK);
  t.Add(Op::CUMSUM, ImportCumsum);
}

}  // namespace nn::tflite
