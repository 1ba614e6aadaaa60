#include "ops/math/elementwise/elementwise.h"

#include <algorithm>
#include <cmath>

#include "formats/tflite/export/hybrid.h"
#include "formats/tflite/export/narrow_cast.h"
#include "formats/tflite/family.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/import/complex.h"
#include "ir/types/small_float.h"
#include "ops/quant/quantized.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// INT16 ADD and SUB have two arithmetics; the graph has only the one for arbitrary scales. The
// kernels use the other one if pot_scale_int16, which is the default, is set and all scales are
// powers of two. It shifts an operand before the sum, so equal scales make no difference.
template <typename Options>
Status RefusePowerOfTwoScales(const ImportContext& ctx, const Options& o) {
  if (!o.pot_scale_int16()) return {};
  const Type& y = ctx.output_type();
  std::vector<int> exponents;
  for (const Type* type : {&ctx.input(0)->type(), &ctx.input(1)->type(), &y}) {
    if (type->dtype != DType::kI16 || !type->quantized()) return {};
    const auto exponent = PowerOfTwo(type->quant->scale());
    if (!exponent) return {};
    exponents.push_back(*exponent);
  }
  if (exponents[0] == exponents[2] && exponents[1] == exponents[2]) return {};
  return UnsupportedError(
      "INT16 with different scales that are powers of two (pot_scale_int16) is unsupported");
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
  if (IsComplex(ctx.output_type().dtype)) {
    if (o->fused_activation_function() != fb::ActivationFunctionType::NONE)
      return ModelError("complex numbers have no activation");
    NN_ASSIGN(Value* const a, ctx.Ranked(0));
    NN_ASSIGN(Value* const b, ctx.Ranked(1));
    NN_ASSIGN(const Term y, ComplexProduct(ctx, a, b));
    return ctx.EmitTerm(y);
  }
  return ctx.EmitActivated(o->fused_activation_function(), "mul", ctx.inputs());
}

Status ImportDiv(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::DivOptions>());
  return ctx.EmitActivated(o->fused_activation_function(), "div", ctx.inputs());
}

// Sums the inputs in order.
Status ImportAddN(ImportContext& ctx) {
  Value* sum = ctx.input(0);
  if (ctx.input_count() == 1) return ctx.EmitTerm(sum);
  for (size_t i = 1; i + 1 < ctx.input_count(); ++i) {
    NN_ASSIGN(Value* const next, ctx.Required(i));
    NN_ASSIGN(sum, ctx.Add("add", {sum, next}));
  }
  NN_ASSIGN(Value* const last, ctx.Required(ctx.input_count() - 1));
  return ctx.Emit("add", {sum, last});
}

Status ImportSquare(ImportContext& ctx) {
  return ctx.Emit("mul", {ctx.input(0), ctx.input(0)});
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

// The number of boundaries that are not above x; NaN is above all of them.
Status ImportBucketize(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::BucketizeOptions>());
  Value* const x = ctx.input(0);
  const auto list = ListOf<float>(o->boundaries());
  if (!std::is_sorted(list.begin(), list.end())) return ModelError("the boundaries must ascend");
  const int rank = x->type().rank();
  // Boundaries are compared as float32, but those with doubles as doubles.
  const DType dtype = x->dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, {static_cast<int64_t>(list.size())}));
  for (size_t i = 0; i < list.size(); ++i) b.SetDouble(static_cast<int64_t>(i), list[i]);
  const Term number = x->dtype() == dtype ? x : Cast(x, dtype);
  const Term reached = Not(Less(ExpandDims(number, {rank}), b.Finish()));
  return ctx.Emit("reduce_sum", {Cast(reached, DType::kI32)}, ReduceAttrs{{rank}, false});
}

// x rounded to the nearest of 2^bits numbers between min and max, which are moved so that 0 is one
// of them.
Status ImportFakeQuant(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::FakeQuantOptions>());
  Value* const x = ctx.input(0);
  if (o->num_bits() < 2 || o->num_bits() > 16)
    return ModelError("num_bits is {}; expected 2 to 16", o->num_bits());
  const float least = o->narrow_range() ? 1 : 0;
  const auto most = static_cast<float>((1 << o->num_bits()) - 1);
  const float scale = (o->max() - o->min()) / (most - least);
  if (!(scale > 0) || !std::isfinite(scale) || !std::isfinite(1 / scale))
    return ModelError("the range from {} to {} is invalid", o->min(), o->max());
  const float zero = std::round(std::clamp(least - o->min() / scale, least, most));
  const Term low = Tensor::Scalar((least - zero) * scale);
  const Term high = Tensor::Scalar((most - zero) * scale);
  // NaN becomes the lowest number.
  const Term limited = Minimum(Select(Greater(x, low), x, low), high);
  const Term y = (limited - low) * Tensor::Scalar(1 / scale);
  // Halves are rounded up. The fraction is exact; the sum of y and 0.5 would not be.
  const Term whole = Apply("floor", {y});
  const Term up = Apply("greater_equal", {y - whole, Tensor::Scalar(0.5f)});
  return ctx.Emit("add", {(whole + Cast(up, DType::kF32)) * Tensor::Scalar(scale), low});
}

// An operator of StableHLO for two operands of one type.
template <const char* kOp>
Status ImportStablehlo(ImportContext& ctx) {
  const Value* const a = ctx.input(0);
  const Value* const b = ctx.input(1);
  if (ctx.output_type().quantized()) return UnsupportedError("quantized operands are unsupported");
  if (a->type().ranked() && b->type().ranked() && *a->type().dims != *b->type().dims)
    return UnsupportedError("operands of different shapes, {} and {}, are unsupported",
                            a->type().ToString(), b->type().ToString());
  return ctx.Emit(kOp, ctx.inputs());
}

Status ImportStablehloAnd(ImportContext& ctx) {
  return ctx.Emit(ctx.input(0)->dtype() == DType::kBool ? "and" : "bitwise_and", ctx.inputs());
}

Status ImportStablehloOr(ImportContext& ctx) {
  return ctx.Emit(ctx.input(0)->dtype() == DType::kBool ? "or" : "bitwise_or", ctx.inputs());
}

// The same for one operand.
template <const char* kOp>
Status ImportStablehloUnary(ImportContext& ctx) {
  if (ctx.output_type().quantized()) return UnsupportedError("quantized operands are unsupported");
  return ctx.Emit(kOp, {ctx.input(0)});
}

// The condition is a scalar, or has the shape of the operands.
Status ImportStablehloSelect(ImportContext& ctx) {
  return ctx.Emit("select", ctx.inputs());
}

constexpr char kHloDivide[] = "div", kHloPower[] = "pow", kHloRemainder[] = "fmod",
               kHloSubtract[] = "sub", kHloAbs[] = "abs", kHloCosine[] = "cos",
               kHloExponential[] = "exp", kHloFloor[] = "floor", kHloLog[] = "log",
               kHloLogistic[] = "sigmoid", kHloNegate[] = "neg", kHloRsqrt[] = "rsqrt",
               kHloTanh[] = "tanh";
constexpr char kHloAdd[] = "add", kHloMultiply[] = "mul", kHloMaximum[] = "maximum",
               kHloMinimum[] = "minimum", kHloShiftLeft[] = "shift_left";

// A condition of rank 1 selects rows of the operands.
Status ImportSelect(ImportContext& ctx) {
  Value *const condition = ctx.input(0), *const a = ctx.input(1), *const b = ctx.input(2);
  const int rank = a->type().rank();
  if (condition->type().rank() != 1 || rank <= 1) return ctx.Emit("select", {condition, a, b});
  Dims dims(static_cast<size_t>(rank), Dim(1));
  dims[0] = condition->type().dim(0);
  return ctx.Emit("select", {Reshape(condition, dims), a, b});
}

// ---- Element types ------------------------------------------------------------------------------

Status ImportCast(ImportContext& ctx) {
  Value* x = ctx.input(0);
  CastAttrs a;
  a.to = ctx.output_type().dtype;
  a.saturate = false;  // ConvertFrom of ml_dtypes
  if (a.to == DType::kUnknown)
    return UnsupportedError("a cast to a non-numeric type is unsupported");
  // Real numbers are the real parts.
  if (IsComplex(x->dtype()) && !IsComplex(a.to)) {
    NN_ASSIGN(x, PartsOf(ctx, x));
    NN_ASSIGN(x, ctx.Build(PartOf(x, 0)));
    if (x->dtype() == a.to) return ctx.EmitTerm(x);
  }
  // CAST to integers of less than 8 bits saturates.
  if (IsNarrowInteger(a.to) && IsFloat(x->dtype())) {
    const ClipAttrs bounds = {static_cast<float>(MinInteger(a.to)),
                              static_cast<float>(MaxInteger(a.to))};
    return ctx.Emit("cast", {Apply("clip", {x}, bounds)}, a);
  }
  return ctx.Emit("cast", {x}, a);
}

// Also from one quantized type to another.
Status ImportQuantize(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (!ctx.output_type().quantized()) return ModelError("its output is not quantized");
  return ctx.Emit("quantize", {x}, QuantizeAttrs{Rounding::kHalfAway, true});
}

// 16-bit floats are widened.
Status ImportDequantize(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (IsFloat(x->dtype())) return ImportCast(ctx);
  if (!x->type().quantized()) return ModelError("its input is not quantized");
  return ctx.Emit("dequantize", {x}, DequantizeAttrs{ctx.output_type().dtype});
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

Status WriteAdd(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::ADD, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateAddOptions(ctx.builder(), ctx.ActivationOf(node),
                                       node.output()->dtype() != DType::kI16));
  return {};
}

Status WriteSub(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::SUB, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateSubOptions(ctx.builder(), ctx.ActivationOf(node),
                                       node.output()->dtype() != DType::kI16));
  return {};
}

Status WriteMul(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::MUL, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateMulOptions(ctx.builder(), ctx.ActivationOf(node)));
  return {};
}

Status WriteDiv(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::DIV, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateDivOptions(ctx.builder(), ctx.ActivationOf(node)));
  return {};
}

std::optional<std::string> WhyNotAtan2(const Node& node) {
  if (node.input(0)->type().dims != node.input(1)->type().dims)
    return fmt::format("ATAN2 does not broadcast {} and {}", node.input(0)->type().ToString(),
                       node.input(1)->type().ToString());
  return std::nullopt;
}

// ---- Activations --------------------------------------------------------------------------------

std::optional<Op> ClipOperator(const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (a.min == 0 && a.max == 6) return Op::RELU6;
  if (a.min == -1 && a.max == 1) return Op::RELU_N1_TO_1;
  if (a.min == 0 && a.max == 1) return Op::RELU_0_TO_1;
  return std::nullopt;
}

Status WriteClip(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(*ClipOperator(node), {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0))}});
  return {};
}

std::optional<std::string> WhyNotClip(const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (!ClipOperator(node))
    return fmt::format(
        "TensorFlow Lite has no clip to [{}, {}] (RELU, RELU6, RELU_N1_TO_1, RELU_0_TO_1 only)",
        a.min, a.max);
  return std::nullopt;
}

Status WriteElu(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::ELU, {ctx.ResultsOf(node), ctx.InputsOf(node)});
  return {};
}

std::optional<std::string> WhyNotElu(const Node& node) {
  const float alpha = node.attrs<AlphaAttrs>().alpha;
  if (alpha != 1) return fmt::format("alpha must be 1, not {}", alpha);
  return std::nullopt;
}

Status WriteGelu(ExportContext& ctx, const Node& node) {
  const bool tanh = node.attrs<GeluAttrs>().approximate == GeluApproximation::kTanh;
  ctx.AddOperator(Op::GELU, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateGeluOptions(ctx.builder(), tanh));
  return {};
}

std::optional<std::string> WhyNotGelu(const Node& node) {
  if (node.attrs<GeluAttrs>().approximate == GeluApproximation::kSigmoid)
    return "GELU has no sigmoid approximation";
  return std::nullopt;
}

// ---- Element types ------------------------------------------------------------------------------

Status WriteCast(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::CAST, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateCastOptions(ctx.builder(), *TensorTypeOf(node.input(0)->dtype()),
                                        *TensorTypeOf(node.output()->dtype())));
  return {};
}

std::optional<std::string> WhyNotCast(const Node& node) {
  const Type &x = node.input(0)->type(), &y = node.output()->type();
  if (WhyNotElements(Op::CAST, 0, x) || WhyNotElements(Op::CAST, 0, y)) {
    const auto is_small = [](DType t) { return IsFloat(t) && DTypeBits(t) <= 8; };
    return fmt::format("TensorFlow Lite has no CAST from {} to {}{}", DTypeName(x.dtype),
                       DTypeName(y.dtype),
                       is_small(x.dtype) || is_small(y.dtype)
                           ? "; cast to f32 in the model, which has all of its values"
                           : "");
  }
  if (auto reason = WhyNotNarrowCast(node.input(0), node.output()->dtype())) return reason;
  if (SaturatingBound(node))
    return fmt::format("CAST to {} does not saturate", DTypeName(node.output()->dtype()));
  return std::nullopt;
}

Status WriteQuantize(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::QUANTIZE, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateQuantizeOptions(ctx.builder()));
  return {};
}

Status WriteDequantize(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::DEQUANTIZE, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateDequantizeOptions(ctx.builder()));
  return {};
}

// A hybrid kernel rounds its input by itself.
std::optional<std::string> WhyNotRounding(const Node& node) {
  if (IsPartOfHybrids(node)) return std::nullopt;
  return "only hybrid kernels round to 8 bits and back";
}

}  // namespace

std::optional<float> SaturatingBound(const Node& node) {
  const auto& a = node.attrs<CastAttrs>();
  const DType from = node.input(0)->dtype();
  if (!a.saturate || !IsFloat(a.to) || DTypeBits(a.to) != 8 || from == a.to) return std::nullopt;
  constexpr float kOutOfRange = 0x1p100f;
  const float largest = SmallFloatToFloat(a.to, FloatToSmallFloat(a.to, kOutOfRange));
  if (IsInteger(from) && static_cast<float>(MaxInteger(from)) <= largest) return std::nullopt;
  return from == DType::kBool ? std::nullopt : std::optional(largest);
}

namespace {

constexpr ImportRow kElementwiseImports[] = {
    {.op = Op::ADD, .import = ImportAdd},
    {.op = Op::SUB, .import = ImportSub},
    {.op = Op::MUL, .import = ImportMul},
    {.op = Op::DIV, .import = ImportDiv},
    {.op = Op::ADD_N, .import = ImportAddN, .inputs = "a"},
    {.op = Op::SQUARE, .import = ImportSquare, .inputs = "a"},
    {.op = Op::RELU_N1_TO_1, .import = ImportClip<-1, 1>},
    {.op = Op::RELU_0_TO_1, .import = ImportClip<0, 1>},
    {.op = Op::RELU6, .import = ImportClip<0, 6>},
    {.op = Op::ELU, .import = ImportElu},
    {.op = Op::GELU, .import = ImportGelu},
    {.op = Op::SELECT, .import = ImportSelect, .inputs = "rrr"},
    {.op = Op::CAST, .import = ImportCast, .inputs = "a"},
    {.op = Op::QUANTIZE, .import = ImportQuantize, .inputs = "a"},
    {.op = Op::DEQUANTIZE, .import = ImportDequantize, .inputs = "a"},
    {.op = Op::BUCKETIZE, .import = ImportBucketize, .inputs = "r"},
    {.op = Op::FAKE_QUANT, .import = ImportFakeQuant, .inputs = "a"},
    {.op = Op::STABLEHLO_ADD, .import = ImportStablehlo<kHloAdd>, .inputs = "aa"},
    {.op = Op::STABLEHLO_MULTIPLY, .import = ImportStablehlo<kHloMultiply>, .inputs = "aa"},
    {.op = Op::STABLEHLO_MAXIMUM, .import = ImportStablehlo<kHloMaximum>, .inputs = "aa"},
    {.op = Op::STABLEHLO_MINIMUM, .import = ImportStablehlo<kHloMinimum>, .inputs = "aa"},
    {.op = Op::STABLEHLO_AND, .import = ImportStablehloAnd, .inputs = "a"},
    {.op = Op::STABLEHLO_SHIFT_LEFT, .import = ImportStablehlo<kHloShiftLeft>, .inputs = "aa"},
    {.op = Op::STABLEHLO_DIVIDE, .import = ImportStablehlo<kHloDivide>, .inputs = "aa"},
    {.op = Op::STABLEHLO_POWER, .import = ImportStablehlo<kHloPower>, .inputs = "aa"},
    {.op = Op::STABLEHLO_REMAINDER, .import = ImportStablehlo<kHloRemainder>, .inputs = "aa"},
    {.op = Op::STABLEHLO_SUBTRACT, .import = ImportStablehlo<kHloSubtract>, .inputs = "aa"},
    {.op = Op::STABLEHLO_OR, .import = ImportStablehloOr, .inputs = "a"},
    {.op = Op::STABLEHLO_SELECT, .import = ImportStablehloSelect, .inputs = "aaa"},
    {.op = Op::STABLEHLO_ABS, .import = ImportStablehloUnary<kHloAbs>, .inputs = "a"},
    {.op = Op::STABLEHLO_COSINE, .import = ImportStablehloUnary<kHloCosine>, .inputs = "a"},
    {.op = Op::STABLEHLO_EXPONENTIAL,
     .import = ImportStablehloUnary<kHloExponential>,
     .inputs = "a"},
    {.op = Op::STABLEHLO_FLOOR, .import = ImportStablehloUnary<kHloFloor>, .inputs = "a"},
    {.op = Op::STABLEHLO_LOG, .import = ImportStablehloUnary<kHloLog>, .inputs = "a"},
    {.op = Op::STABLEHLO_LOGISTIC, .import = ImportStablehloUnary<kHloLogistic>, .inputs = "a"},
    {.op = Op::STABLEHLO_NEGATE, .import = ImportStablehloUnary<kHloNegate>, .inputs = "a"},
    {.op = Op::STABLEHLO_RSQRT, .import = ImportStablehloUnary<kHloRsqrt>, .inputs = "a"},
    {.op = Op::STABLEHLO_TANH, .import = ImportStablehloUnary<kHloTanh>, .inputs = "a"},
};

constexpr ExportRow kElementwiseExports[] = {
    {.op = "add", .write = WriteAdd, .fuses = Always},
    {.op = "sub", .write = WriteSub, .fuses = Always},
    {.op = "mul", .write = WriteMul, .fuses = Always},
    {.op = "div", .write = WriteDiv, .fuses = Always},
    {.op = "atan2", .why_not = WhyNotAtan2, .any_type = true},
    {.op = "clip", .write = WriteClip, .why_not = WhyNotClip},
    {.op = "elu", .write = WriteElu, .why_not = WhyNotElu},
    {.op = "gelu", .write = WriteGelu, .why_not = WhyNotGelu},
    {.op = "select", .any_type = true},
    {.op = "cast", .write = WriteCast, .why_not = WhyNotCast, .any_type = true},
    {.op = "quantize", .write = WriteQuantize},
    {.op = "dynamic_fake_quantize", .why_not = WhyNotRounding},
    {.op = "dequantize", .write = WriteDequantize, .any_type = true},
};

}  // namespace

Family ElementwiseFamily() {
  return {.imports = kElementwiseImports, .exports = kElementwiseExports};
}

}  // namespace nn::tflite
