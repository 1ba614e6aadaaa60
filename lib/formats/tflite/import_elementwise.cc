#include "formats/tflite/import.h"
#include "ops/elementwise.h"
#include "ops/shape.h"

namespace nn::tflite {
namespace {

// i16 sums come in two arithmetics; the graph has the one for any scales.
template <typename Options>
Status RefusePowerOfTwoScales(const ImportContext& ctx, const Options& o) {
  const Type& y = ctx.output_type();
  if (y.dtype == DType::kI16 && y.quantised() && o.pot_scale_int16())
    return UnsupportedError("INT16 with scales that are powers of two (pot_scale_int16)");
  return {};
}

Status ImportAdd(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::AddOptions>());
  NN_RETURN_IF_ERROR(RefusePowerOfTwoScales(ctx, *o));
  return ctx.EmitActivated(o->fused_activation_function(), "add", ctx.inputs());
}

Status ImportSub(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SubOptions>());
  NN_RETURN_IF_ERROR(RefusePowerOfTwoScales(ctx, *o));
  return ctx.EmitActivated(o->fused_activation_function(), "sub", ctx.inputs());
}

Status ImportMul(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::MulOptions>());
  return ctx.EmitActivated(o->fused_activation_function(), "mul", ctx.inputs());
}

Status ImportDiv(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::DivOptions>());
  return ctx.EmitActivated(o->fused_activation_function(), "div", ctx.inputs());
}

// The sum of all inputs, from the first to the last.
Status ImportAddN(ImportContext& ctx) {
  NN_ASSIGN(Value * sum, ctx.Required(0));
  if (ctx.input_count() == 1) {
    ctx.SetOutput(0, sum);
    return {};
  }
  for (size_t i = 1; i + 1 < ctx.input_count(); ++i) {
    NN_ASSIGN(Value* const next, ctx.Required(i));
    NN_ASSIGN(sum, ctx.Add("add", {sum, next}));
  }
  NN_ASSIGN(Value* const last, ctx.Required(ctx.input_count() - 1));
  return ctx.Emit("add", {sum, last});
}

Status ImportSquare(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("mul", {x, x});
}

template <int kLow, int kHigh>
Status ImportClip(ImportContext& ctx) {
  return ctx.Emit("clip", ctx.inputs(), ClipAttrs{kLow, kHigh});
}

Status ImportElu(ImportContext& ctx) {
  return ctx.Emit("elu", ctx.inputs(), AlphaAttrs{1.0f});
}

Status ImportGelu(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::GeluOptions>());
  return ctx.Emit(
      "gelu", ctx.inputs(),
      GeluAttrs{o->approximate() ? GeluApproximation::kTanh : GeluApproximation::kNone});
}

// A condition of one axis chooses rows of the operands.
Status ImportSelect(ImportContext& ctx) {
  NN_ASSIGN(Value * condition, ctx.Ranked(0));
  NN_ASSIGN(Value* const a, ctx.Ranked(1));
  NN_ASSIGN(Value* const b, ctx.Ranked(2));
  const int rank = a->type().rank();
  if (condition->type().rank() == 1 && rank > 1) {
    Dims dims(static_cast<size_t>(rank), Dim(1));
    dims[0] = condition->type().dim(0);
    NN_ASSIGN(condition, ctx.Add("reshape", {condition}, ReshapeAttrs{dims, false}));
  }
  return ctx.Emit("select", {condition, a, b});
}

// ---- Element types ------------------------------------------------------------------------------

Status ImportCast(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  CastAttrs a;
  a.to = ctx.output_type().dtype;
  if (a.to == DType::kUnknown) return UnsupportedError("a cast to a type that is no number");
  return ctx.Emit("cast", {x}, a);
}

// Also from one quantised type to another.
Status ImportQuantize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (!ctx.output_type().quantised()) return ModelError("its output is not quantised");
  return ctx.Emit("quantize", {x}, QuantizeAttrs{Rounding::kHalfAway, true});
}

// 16-bit floats are widened.
Status ImportDequantize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (IsFloat(x->dtype())) return ImportCast(ctx);
  if (!x->type().quantised()) return ModelError("its input is not quantised");
  return ctx.Emit("dequantize", {x}, DequantizeAttrs{ctx.output_type().dtype});
}

}  // namespace

void AddElementwiseImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::ADD, ImportAdd);
  t.Add(Op::SUB, ImportSub);
  t.Add(Op::MUL, ImportMul);
  t.Add(Op::DIV, ImportDiv);
  t.Add(Op::ADD_N, ImportAddN);
  t.Add(Op::SQUARE, ImportSquare);
  t.Add(Op::RELU_N1_TO_1, ImportClip<-1, 1>);
  t.Add(Op::RELU_0_TO_1, ImportClip<0, 1>);
  t.Add(Op::RELU6, ImportClip<0, 6>);
  t.Add(Op::ELU, ImportElu);
  t.Add(Op::GELU, ImportGelu);
  t.Add(Op::SELECT, ImportSelect);
  t.Add(Op::CAST, ImportCast);
  t.Add(Op::QUANTIZE, ImportQuantize);
  t.Add(Op::DEQUANTIZE, ImportDequantize);
}

}  // namespace nn::tflite
