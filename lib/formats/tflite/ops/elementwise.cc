#include "ops/math/elementwise/elementwise.h"

#include <algorithm>
#include <cmath>

#include "formats/tflite/export/hybrid.h"
#include "formats/tflite/export/narrow_cast.h"
#include "formats/tflite/family.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/import/complex.h"
#include "formats/tflite/spec/operand_fit.h"
#include "ir/types/small_float.h"
#include "ops/array/shape.h"
#include "ops/quant/quantized.h"
#include "ops/reduce/reduce.h"

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
    NN_ASSIGN(Value* const y, ComplexProduct(ctx, a, b));
    ctx.SetOutput(0, y);
    return {};
  }
  return ctx.EmitActivated(o->fused_activation_function(), "mul", ctx.inputs());
}

Status ImportDiv(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::DivOptions>());
  return ctx.EmitActivated(o->fused_activation_function(), "div", ctx.inputs());
}

// Sums the inputs in order.
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

// The number of boundaries that are not above x; NaN is above all of them.
Status ImportBucketize(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::BucketizeOptions>());
  NN_ASSIGN(Value * x, ctx.Ranked(0));
  const auto list = ListOf<float>(o->boundaries());
  if (!std::is_sorted(list.begin(), list.end())) return ModelError("the boundaries must ascend");
  const int rank = x->type().rank();
  // Boundaries are compared as float32, but those with doubles as doubles.
  const DType dtype = x->dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  if (x->dtype() != dtype) {
    NN_ASSIGN(x, ctx.Add("cast", {x}, CastAttrs{.to = dtype}));
  }
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, {static_cast<int64_t>(list.size())}));
  for (size_t i = 0; i < list.size(); ++i) b.SetDouble(static_cast<int64_t>(i), list[i]);
  NN_ASSIGN(x, ctx.Add("expand_dims", {x}, AxesAttrs{{rank}}));
  NN_ASSIGN(Value * reached, ctx.Add("less", {x, ctx.Constant(b.Finish())}));
  NN_ASSIGN(reached, ctx.Add("not", {reached}));
  NN_ASSIGN(reached, ctx.Add("cast", {reached}, CastAttrs{.to = DType::kI32}));
  return ctx.Emit("reduce_sum", {reached}, ReduceAttrs{{rank}, false});
}

// x rounded to the nearest of 2^bits numbers between min and max, which are moved so that 0 is one
// of them.
Status ImportFakeQuant(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::FakeQuantOptions>());
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (o->num_bits() < 2 || o->num_bits() > 16)
    return ModelError("num_bits is {}; expected 2 to 16", o->num_bits());
  const float least = o->narrow_range() ? 1 : 0;
  const auto most = static_cast<float>((1 << o->num_bits()) - 1);
  const float scale = (o->max() - o->min()) / (most - least);
  if (!(scale > 0) || !std::isfinite(scale) || !std::isfinite(1 / scale))
    return ModelError("the range from {} to {} is invalid", o->min(), o->max());
  const float zero = std::round(std::clamp(least - o->min() / scale, least, most));
  const auto number = [&](float v) { return ctx.Constant(Tensor::Scalar(v)); };
  Value* const low = number((least - zero) * scale);
  Value* const high = number((most - zero) * scale);
  // NaN becomes the lowest number.
  NN_ASSIGN(Value * above, ctx.Add("greater", {x, low}));
  NN_ASSIGN(Value * y, ctx.Add("select", {above, x, low}));
  NN_ASSIGN(y, ctx.Add("minimum", {y, high}));
  NN_ASSIGN(y, ctx.Add("sub", {y, low}));
  NN_ASSIGN(y, ctx.Add("mul", {y, number(1 / scale)}));
  // Halves are rounded up. The fraction is exact; the sum of y and 0.5 would not be.
  NN_ASSIGN(Value* const whole, ctx.Add("floor", {y}));
  NN_ASSIGN(Value * up, ctx.Add("sub", {y, whole}));
  NN_ASSIGN(up, ctx.Add("greater_equal", {up, number(0.5f)}));
  NN_ASSIGN(up, ctx.Add("cast", {up}, CastAttrs{.to = DType::kF32}));
  NN_ASSIGN(y, ctx.Add("add", {whole, up}));
  NN_ASSIGN(y, ctx.Add("mul", {y, number(scale)}));
  return ctx.Emit("add", {y, low});
}

// An operator of StableHLO for two operands of one type.
template <const char* kOp>
Status ImportStablehlo(ImportContext& ctx) {
  NN_ASSIGN(const Value* const a, ctx.Required(0));
  NN_ASSIGN(const Value* const b, ctx.Required(1));
  if (ctx.output_type().quantized()) return UnsupportedError("quantized operands are unsupported");
  if (a->type().ranked() && b->type().ranked() && *a->type().dims != *b->type().dims)
    return UnsupportedError("operands of different shapes, {} and {}, are unsupported",
                            a->type().ToString(), b->type().ToString());
  return ctx.Emit(kOp, ctx.inputs());
}

Status ImportStablehloAnd(ImportContext& ctx) {
  NN_ASSIGN(const Value* const a, ctx.Required(0));
  return ctx.Emit(a->dtype() == DType::kBool ? "and" : "bitwise_and", ctx.inputs());
}

Status ImportStablehloOr(ImportContext& ctx) {
  NN_ASSIGN(const Value* const a, ctx.Required(0));
  return ctx.Emit(a->dtype() == DType::kBool ? "or" : "bitwise_or", ctx.inputs());
}

// The same for one operand.
template <const char* kOp>
Status ImportStablehloUnary(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (ctx.output_type().quantized()) return UnsupportedError("quantized operands are unsupported");
  return ctx.Emit(kOp, {x});
}

// The condition is a scalar, or has the shape of the operands.
Status ImportStablehloSelect(ImportContext& ctx) {
  for (size_t i = 0; i < 3; ++i) NN_RETURN_IF_ERROR(ctx.Required(i));
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
  NN_ASSIGN(Value * x, ctx.Required(0));
  CastAttrs a;
  a.to = ctx.output_type().dtype;
  a.saturate = false;  // ConvertFrom of ml_dtypes
  if (a.to == DType::kUnknown)
    return UnsupportedError("a cast to a non-numeric type is unsupported");
  // Real numbers are the real parts.
  if (IsComplex(x->dtype()) && !IsComplex(a.to)) {
    NN_ASSIGN(x, PartsOf(ctx, x));
    NN_ASSIGN(x, PartOf(ctx, x, 0));
    if (x->dtype() == a.to) {
      ctx.SetOutput(0, x);
      return {};
    }
  }
  // CAST to integers of less than 8 bits saturates.
  if (IsNarrowInteger(a.to) && IsFloat(x->dtype())) {
    const ClipAttrs bounds = {static_cast<float>(MinInteger(a.to)),
                              static_cast<float>(MaxInteger(a.to))};
    NN_ASSIGN(x, ctx.Add("clip", {x}, bounds));
  }
  return ctx.Emit("cast", {x}, a);
}

// Also from one quantized type to another.
Status ImportQuantize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (!ctx.output_type().quantized()) return ModelError("its output is not quantized");
  return ctx.Emit("quantize", {x}, QuantizeAttrs{Rounding::kHalfAway, true});
}

// 16-bit floats are widened.
Status ImportDequantize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (IsFloat(x->dtype())) return ImportCast(ctx);
  if (!x->type().quantized()) return ModelError("its input is not quantized");
  return ctx.Emit("dequantize", {x}, DequantizeAttrs{ctx.output_type().dtype});
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

std::optional<std::string> WhyNotArithmetic(const Node& node) {
  const Type& type = node.output()->type();
  if (type.dtype == DType::kF32 || type.quantized() || type.dtype == DType::kI32 ||
      type.dtype == DType::kI64)
    return std::nullopt;
  return fmt::format("TensorFlow Lite has no {} for {}", node.op_name(), DTypeName(type.dtype));
}

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

// The types supported by the kernel of POW.
std::optional<std::string> WhyNotPow(const Node& node) {
  const DType t = node.input(0)->dtype();
  if (node.input(1)->dtype() != t)
    return fmt::format("POW needs operands of one type, not {} and {}", DTypeName(t),
                       DTypeName(node.input(1)->dtype()));
  if (t != DType::kF32 && t != DType::kI32)
    return fmt::format("POW does not support {}", DTypeName(t));
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
  if (auto reason = WhyNotReal(node)) return reason;
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
  return WhyNotReal(node);
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
  return WhyNotReal(node);
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
  const bool known = TensorTypeOf(x.dtype) && TensorTypeOf(y.dtype);
  if (!known || WhyNotOperands(Op::CAST, {&x}, {&y})) {
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

std::optional<std::string> WhyNotQuantize(const Node& node) {
  const Type& x = node.input(0)->type();
  if (!node.output()->type().quantized()) return "its output is not quantized";
  const DType to = node.output()->dtype();
  if (x.dtype != DType::kF32 && !x.quantized())
    return fmt::format("QUANTIZE does not support {} operands", DTypeName(x.dtype));
  if (x.quantized() ? !CanRequantize(x.dtype, to) : to == DType::kI32)
    return fmt::format("QUANTIZE does not convert {} to {}", DTypeName(x.dtype), DTypeName(to));
  return WhyNotOperands(Op::QUANTIZE, {&x}, {&node.output()->type()});
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

std::optional<std::string> WhyNotDequantize(const Node& node) {
  const Type& x = node.input(0)->type();
  const bool is_half_weight = x.dtype == DType::kF16 && node.input(0)->is_constant();
  if (!x.quantized() && !is_half_weight) return "its input is not quantized";
  if (node.output()->dtype() != DType::kF32)
    return fmt::format("DEQUANTIZE produces f32, not {}", DTypeName(node.output()->dtype()));
  if (!is_half_weight && (IsFloat(x.dtype) || (DTypeBits(x.dtype) > 8 && x.dtype != DType::kI16)))
    return fmt::format("DEQUANTIZE does not accept {}", DTypeName(x.dtype));
  return WhyNotOperands(Op::DEQUANTIZE, {&x}, {&node.output()->type()});
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
    {.op = Op::ADD_N, .import = ImportAddN},
    {.op = Op::SQUARE, .import = ImportSquare},
    {.op = Op::RELU_N1_TO_1, .import = ImportClip<-1, 1>},
    {.op = Op::RELU_0_TO_1, .import = ImportClip<0, 1>},
    {.op = Op::RELU6, .import = ImportClip<0, 6>},
    {.op = Op::ELU, .import = ImportElu},
    {.op = Op::GELU, .import = ImportGelu},
    {.op = Op::SELECT, .import = ImportSelect},
    {.op = Op::CAST, .import = ImportCast},
    {.op = Op::QUANTIZE, .import = ImportQuantize},
    {.op = Op::DEQUANTIZE, .import = ImportDequantize},
    {.op = Op::BUCKETIZE, .import = ImportBucketize},
    {.op = Op::FAKE_QUANT, .import = ImportFakeQuant},
    {.op = Op::STABLEHLO_ADD, .import = ImportStablehlo<kHloAdd>},
    {.op = Op::STABLEHLO_MULTIPLY, .import = ImportStablehlo<kHloMultiply>},
    {.op = Op::STABLEHLO_MAXIMUM, .import = ImportStablehlo<kHloMaximum>},
    {.op = Op::STABLEHLO_MINIMUM, .import = ImportStablehlo<kHloMinimum>},
    {.op = Op::STABLEHLO_AND, .import = ImportStablehloAnd},
    {.op = Op::STABLEHLO_SHIFT_LEFT, .import = ImportStablehlo<kHloShiftLeft>},
    {.op = Op::STABLEHLO_DIVIDE, .import = ImportStablehlo<kHloDivide>},
    {.op = Op::STABLEHLO_POWER, .import = ImportStablehlo<kHloPower>},
    {.op = Op::STABLEHLO_REMAINDER, .import = ImportStablehlo<kHloRemainder>},
    {.op = Op::STABLEHLO_SUBTRACT, .import = ImportStablehlo<kHloSubtract>},
    {.op = Op::STABLEHLO_OR, .import = ImportStablehloOr},
    {.op = Op::STABLEHLO_SELECT, .import = ImportStablehloSelect},
    {.op = Op::STABLEHLO_ABS, .import = ImportStablehloUnary<kHloAbs>},
    {.op = Op::STABLEHLO_COSINE, .import = ImportStablehloUnary<kHloCosine>},
    {.op = Op::STABLEHLO_EXPONENTIAL, .import = ImportStablehloUnary<kHloExponential>},
    {.op = Op::STABLEHLO_FLOOR, .import = ImportStablehloUnary<kHloFloor>},
    {.op = Op::STABLEHLO_LOG, .import = ImportStablehloUnary<kHloLog>},
    {.op = Op::STABLEHLO_LOGISTIC, .import = ImportStablehloUnary<kHloLogistic>},
    {.op = Op::STABLEHLO_NEGATE, .import = ImportStablehloUnary<kHloNegate>},
    {.op = Op::STABLEHLO_RSQRT, .import = ImportStablehloUnary<kHloRsqrt>},
    {.op = Op::STABLEHLO_TANH, .import = ImportStablehloUnary<kHloTanh>},
};

constexpr ExportRow kElementwiseExports[] = {
    {.op = "add", .write = WriteAdd, .why_not = WhyNotArithmetic, .fuses = Always},
    {.op = "sub", .write = WriteSub, .why_not = WhyNotArithmetic, .fuses = Always},
    {.op = "mul", .write = WriteMul, .why_not = WhyNotArithmetic, .fuses = Always},
    {.op = "div", .write = WriteDiv, .why_not = WhyNotArithmetic, .fuses = Always},
    {.op = "atan2", .why_not = WhyNotAtan2, .any_type = true},
    {.op = "pow", .why_not = WhyNotPow},
    {.op = "clip", .write = WriteClip, .why_not = WhyNotClip},
    {.op = "elu", .write = WriteElu, .why_not = WhyNotElu},
    {.op = "gelu", .write = WriteGelu, .why_not = WhyNotGelu},
    {.op = "select", .any_type = true},
    {.op = "cast", .write = WriteCast, .why_not = WhyNotCast, .any_type = true},
    {.op = "quantize", .write = WriteQuantize, .why_not = WhyNotQuantize},
    {.op = "dynamic_fake_quantize", .why_not = WhyNotRounding},
    {.op = "dequantize", .write = WriteDequantize, .why_not = WhyNotDequantize, .any_type = true},
};

}  // namespace

Family ElementwiseFamily() {
  return {.imports = kElementwiseImports, .exports = kElementwiseExports};
}

}  // namespace nn::tflite
