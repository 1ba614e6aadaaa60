// quantize and dequantize: between real numbers and quantized types. dynamic_quantize: to integers
// whose scale and zero point are results, too, as ONNX DynamicQuantizeLinear defines:
//   low = min(0, x...), high = max(0, x...), scale = (high - low) / 255 (1 if that is 0),
//   zero = round(0 - low / scale), y = round(x / scale) + zero, both in [0, 255]
#include <algorithm>
#include <cmath>

#include "ir/types/small_float.h"
#include "ir/verify.h"
#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/elementwise/impl.h"
#include "ops/quant/dynamic_scale.h"
#include "ops/quant/quantized.h"
#include "ops/quant/tflite_elementwise.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// Element types that quantize supports: integers of at most 32 bits and small floats.
bool CanQuantize(DType t) {
  return (IsInteger(t) && DTypeBits(t) <= 32) || (IsFloat(t) && DTypeBits(t) <= 8);
}

// Also the biases of 16-bit kernels.
bool CanDequantize(DType t) {
  return CanQuantize(t) || t == DType::kI64;
}

Status CheckQuantizedType(const Type& type, bool supported) {
  if (!supported) return UnsupportedError("quantized {} is not supported", DTypeName(type.dtype));
  return CheckQuant(type);
}

// Maps an element to its scale.
class ScaleIndex {
 public:
  ScaleIndex(const Quant& q, const std::vector<int64_t>& dims) {
    if (!q.per_axis() || q.scales.size() == 1) return;
    const auto axis = static_cast<size_t>(q.axis);
    channels_ = dims[axis];
    inner_ = Strides(dims)[axis];
  }
  size_t operator()(int64_t i) const { return static_cast<size_t>(i / inner_ % channels_); }

 private:
  int64_t channels_ = 1, inner_ = 1;
};

// ---- quantize

Status InferQuantize(InferContext& ctx) {
  const Type& x = ctx.in(0);
  const DType t = x.dtype;
  if (t != DType::kUnknown && !x.quantized() &&
      (!IsFloat(t) || DTypeBits(t) < 16 || t == DType::kF64))
    return UnsupportedError("{} is not supported", x.ToString());
  Type out;  // the output declares its element type and quantization
  out.dims = x.dims;
  ctx.set_out(0, std::move(out));
  return {};
}

float Rounded(float x, Rounding rounding) {
  return rounding == Rounding::kHalfEven ? std::nearbyint(x) : std::round(x);
}

// The quantized value of x: NaN counts as 0; values out of range saturate.
int64_t QuantizeOne(float x, float scale, int64_t zero, DType to, Rounding rounding) {
  const float steps = Rounded(x / scale, rounding);
  if (std::isnan(steps)) return ClampTo(to, zero);
  return ClampTo(to, static_cast<int64_t>(std::clamp(steps, -0x1p40f, 0x1p40f)) + zero);
}

Status QuantizeReals(EvalContext& ctx) {
  const auto& a = ctx.attrs<QuantizeAttrs>();
  const Type& type = ctx.out_type();
  const Quant& q = *type.quant;
  const Tensor& x = ctx.in(0);
  if (DTypeBits(type.dtype) == 32)
    return UnsupportedError("a result of {} is not supported", type.ToString());
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const ScaleIndex index(q, y.dims());
  for (int64_t i = 0; i < y.elements(); ++i) {
    const size_t c = index(i);
    const auto v = static_cast<float>(x.GetDouble(i));
    if (IsInteger(type.dtype))
      y.SetInt(i, QuantizeOne(v, q.scale(c), q.zero_point(c), type.dtype, a.rounding));
    else if (DTypeBits(type.dtype) == 8)
      reinterpret_cast<uint8_t*>(y.data())[i] =
          FloatToSmallFloat(type.dtype, v / q.scale(c), a.saturate);
    else
      y.SetDouble(i, static_cast<double>(v / q.scale(c)));
  }
  ctx.set_out(0, y.Finish());
  return {};
}

Status Requantize(EvalContext& ctx) {
  const Type& from = ctx.in_type(0);
  const Type& to = ctx.out_type();
  const bool tflite = ctx.node().arithmetic() == Arithmetic::kTflite ||
                      ctx.node().arithmetic() == Arithmetic::kTfliteFixed;
  if (!tflite || from.quant->per_axis() || to.quant->per_axis() ||
      !CanRequantize(from.dtype, to.dtype))
    return UnsupportedError("{} to {} is not supported{}", from.ToString(), to.ToString(),
                            tflite ? "" : ", because the node has no integer arithmetic");
  const FixedMultiplier m = QuantizeMultiplier(static_cast<double>(from.quant->scale()) /
                                               static_cast<double>(to.quant->scale()));
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  for (int64_t i = 0; i < y.elements(); ++i) {
    const auto v = static_cast<int32_t>(x.GetInt(i) - from.quant->zero_point());
    y.SetInt(i, ClampTo(to.dtype, int64_t{Rescale(v, m)} + to.quant->zero_point()));
  }
  ctx.set_out(0, y.Finish());
  return {};
}

Status EvalQuantize(EvalContext& ctx) {
  if (!ctx.out_type().quantized())
    return ModelError("the output {} is not quantized", ctx.out_type().ToString());
  NN_RETURN_IF_ERROR(CheckQuantizedType(ctx.out_type(), CanQuantize(ctx.out_type().dtype)));
  return ctx.in_type(0).quantized() ? Requantize(ctx) : QuantizeReals(ctx);
}

// ---- dequantize

Status InferDequantize(InferContext& ctx) {
  const DType to = ctx.attrs<DequantizeAttrs>().to;
  if (to != DType::kF32 && to != DType::kF16 && to != DType::kBF16)
    return UnsupportedError("a result of {} is not supported", DTypeName(to));
  const Type& x = ctx.in(0);
  // Weights of 16 bits are stored without quantization.
  const bool plain = (x.dtype == DType::kF16 || x.dtype == DType::kBF16) && !x.quantized();
  if (!plain && x.dtype != DType::kUnknown) {
    if (!x.quantized()) return ModelError("dequantize of {}, which is not quantized", x.ToString());
    NN_RETURN_IF_ERROR(CheckQuantizedType(x, CanDequantize(x.dtype)));
  }
  Type out;
  out.dtype = to;
  out.dims = x.dims;
  ctx.set_out(0, std::move(out));
  return {};
}

// The difference and the product are rounded to float32 each; those of 64-bit integers are computed
// in double and rounded to float32 once, because float32 holds few of the integers.
double DequantizeOne(DType from, int64_t v, float scale, int64_t zero) {
  if (from == DType::kI64)
    return static_cast<double>(static_cast<float>(
        (static_cast<double>(v) - static_cast<double>(zero)) * static_cast<double>(scale)));
  return static_cast<double>(static_cast<float>(v - zero) * scale);
}

Status EvalDequantize(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  if (!ctx.in_type(0).quantized()) {
    for (int64_t i = 0; i < y.elements(); ++i) y.SetDouble(i, x.GetDouble(i));
    ctx.set_out(0, y.Finish());
    return {};
  }
  const Quant& q = *ctx.in_type(0).quant;
  const ScaleIndex index(q, y.dims());
  for (int64_t i = 0; i < y.elements(); ++i) {
    const size_t c = index(i);
    y.SetDouble(i, IsInteger(x.dtype())
                       ? DequantizeOne(x.dtype(), x.GetInt(i), q.scale(c), q.zero_point(c))
                       : static_cast<double>(static_cast<float>(x.GetDouble(i)) * q.scale(c)));
  }
  ctx.set_out(0, y.Finish());
  return {};
}

// ---- dynamic_quantize

Status InferDynamicQuantize(InferContext& ctx) {
  const Type& x = ctx.in(0);
  if (x.dtype != DType::kF32 && x.dtype != DType::kUnknown)
    return UnsupportedError("{} is not supported", x.ToString());
  Type y;
  y.dtype = DType::kU8;
  y.dims = x.dims;
  ctx.set_out(0, std::move(y));
  if (ctx.output_count() > 1) ctx.set_out(1, Type(DType::kF32, Dims{}));
  if (ctx.output_count() > 2) ctx.set_out(2, Type(DType::kU8, Dims{}));
  return {};
}

// A whole number in [0, 255]; NaN gives 0.
int64_t ToByte(float v) {
  return std::isnan(v) ? 0 : static_cast<int64_t>(std::clamp(v, 0.0f, 255.0f));
}

}  // namespace

DynamicScale DynamicScaleOf(float low, float high) {
  const float range = high - low;
  const float scale = range == 0 ? 1.0f : range / 255.0f;
  return {scale, static_cast<uint8_t>(ToByte(std::nearbyint(0.0f - low / scale)))};
}

namespace {

// Rounds and adds as ExpandDynamicQuantize (rewrite/expand.h) does.
Status EvalDynamicQuantize(EvalContext& ctx) {
  const auto x = ctx.in(0).As<float>();
  float low = 0;
  float high = 0;
  for (const float v : x) {
    low = std::isnan(low) || v >= low ? low : v;
    high = std::isnan(high) || v <= high ? high : v;
  }
  const DynamicScale s = DynamicScaleOf(low, high);
  const float scale = s.scale;
  const auto zero = static_cast<float>(s.zero_point);
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  for (int64_t i = 0; i < y.elements(); ++i)
    y.SetInt(i, ToByte(std::nearbyint(x[static_cast<size_t>(i)] / scale) + zero));
  ctx.set_out(0, y.Finish());
  if (ctx.output_count() > 1) ctx.set_out(1, Tensor::Scalar(scale));
  if (ctx.output_count() > 2) ctx.set_out(2, Tensor::Scalar(static_cast<uint8_t>(zero)));
  return {};
}

std::optional<AxesChange> ChangeDynamicQuantizeAxes(const Node& node, Operand changed,
                                                    const AxisMap& map) {
  if (changed.is_output && changed.index != 0) return std::nullopt;
  return ChangeUnaryAxes(node, changed, map);
}

// Per-axis quantization follows its axis; a map that drops the axis is rejected.
std::optional<AxesChange> ChangeQuantizedAxes(const Node& node, Operand changed,
                                              const AxisMap& map) {
  for (const Value* v : {node.input(0), node.output()})
    if (v->type().quantized() && v->type().quant->per_axis() &&
        !map.ResultAxis(v->type().quant->axis))
      return std::nullopt;
  return ChangeUnaryAxes(node, changed, map);
}

}  // namespace

void RegisterQuantizeOps(OpRegistry& ops) {
  OpDef quantize;
  quantize.name = "quantize";
  quantize.summary = "converts reals, or another quantized type, to a quantized type";
  quantize.category = Category::kQuantization;
  quantize.converts = true;
  quantize.attrs = AttrsInfoOf<QuantizeAttrs>();
  quantize.inputs = {{"x"}};
  quantize.infer = InferQuantize;
  quantize.eval = EvalQuantize;
  quantize.change_axes = ChangeQuantizedAxes;
  ops.Add(std::move(quantize));

  OpDef dequantize;
  dequantize.name = "dequantize";
  dequantize.summary = "scale * (integer - zero point)";
  dequantize.category = Category::kQuantization;
  dequantize.converts = true;
  dequantize.attrs = AttrsInfoOf<DequantizeAttrs>();
  dequantize.inputs = {{"x"}};
  dequantize.infer = InferDequantize;
  dequantize.eval = EvalDequantize;
  dequantize.change_axes = ChangeQuantizedAxes;
  ops.Add(std::move(dequantize));

  OpDef dynamic;
  dynamic.name = "dynamic_quantize";
  dynamic.summary = "u8 with the scale and zero point of the range of the elements, and these two";
  dynamic.category = Category::kQuantization;
  dynamic.inputs = {{"x"}};
  dynamic.outputs = {{"y"}, {"scale", Arity::kOptional}, {"zero_point", Arity::kOptional}};
  dynamic.infer = InferDynamicQuantize;
  dynamic.eval = EvalDynamicQuantize;
  dynamic.change_axes = ChangeDynamicQuantizeAxes;
  dynamic.formats = {{"onnx", "DynamicQuantizeLinear", 11, {}}};
  ops.Add(std::move(dynamic));
}

}  // namespace nn
