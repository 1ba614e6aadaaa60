// QuantizeLinear and DequantizeLinear. Scale and zero point become part of the quantized value's
// type (Type::quant), so they must be constant.
#include <algorithm>

#include "formats/onnx/family.h"
#include "formats/onnx/tensor.h"
#include "ops/math/elementwise.h"

namespace nn::onnx {

namespace {

Status RefuseBlocks(const ImportContext& ctx) {
  if (const int64_t block = ctx.Int("block_size", 0); block != 0)
    return UnsupportedError("{} with block_size = {}", ctx.node().op_type(), block);
  return {};
}

// The mapping that inputs 1 and 2 give for integers of `type`.
Result<std::shared_ptr<const Quant>> ReadQuant(ImportContext& ctx, const Type& type) {
  NN_RETURN_IF_ERROR(RefuseBlocks(ctx));
  const Tensor* scale = ctx.Constant(1);
  const Tensor* zero = ctx.Constant(2);
  if (ctx.input(1) == nullptr) return ModelError("the scale is missing");
  if (scale == nullptr || (ctx.input(2) != nullptr && zero == nullptr))
    return UnsupportedError("{} needs a constant scale and zero point", ctx.node().op_type());
  if (scale->rank() > 1)
    return UnsupportedError("{} needs a scale of rank 0 or 1, not {}", ctx.node().op_type(),
                            scale->rank());
  if (zero != nullptr && zero->elements() != scale->elements())
    return ModelError("{} scales but {} zero points", scale->elements(), zero->elements());
  auto q = std::make_shared<Quant>();
  for (const double v : scale->ToDoubles()) q->scales.push_back(static_cast<float>(v));
  if (zero != nullptr && IsInteger(zero->dtype())) {
    q->zero_points = zero->ToInts();
    if (std::ranges::all_of(q->zero_points, [](int64_t v) { return v == 0; }))
      q->zero_points.clear();
  } else if (zero != nullptr) {
    for (const double v : zero->ToDoubles())
      if (v != 0) return ModelError("the zero point of a float8 type must be 0, not {}", v);
  }
  if (scale->rank() == 1 && scale->elements() != 1) {
    if (!type.ranked())
      return UnsupportedError("{} per axis needs an input of known rank", ctx.node().op_type());
    int64_t axis = ctx.Int("axis", 1);
    if (axis < 0) axis += type.rank();
    if (axis < 0 || axis >= type.rank() || ctx.opset() < 13)
      return ModelError("{0} scales do not match axis {2} of {1}", scale->elements(),
                        type.ToString(), axis);
    q->axis = static_cast<int>(axis);
  }
  return q;
}

// Computation is in float32; another requested precision is unsupported.
Status CheckPrecision(const ImportContext& ctx) {
  const int64_t precision = ctx.Int("precision", 0);
  if (precision != 0 && precision != pb::TensorProto::FLOAT)
    return UnsupportedError("{} with precision = {}", ctx.node().op_type(), precision);
  return {};
}

Status ImportQuantizeLinear(ImportContext& ctx) {
  NN_ASSIGN(Value * x, ctx.Required(0));
  NN_RETURN_IF_ERROR(CheckPrecision(ctx));
  DType dtype = DType::kU8;
  if (const int64_t wanted = ctx.Int("output_dtype", 0); wanted != 0)
    dtype = DTypeOf(static_cast<int>(wanted));
  if (ctx.input(2) != nullptr) dtype = ctx.input(2)->dtype();
  NN_ASSIGN(auto quant, ReadQuant(ctx, x->type()));
  if (x->dtype() == DType::kI32 && !x->type().quantized()) {
    NN_ASSIGN(x, ctx.Add("cast", {x}, CastAttrs{}));
  }
  QuantizeAttrs a;
  a.saturate = ctx.Int("saturate", 1) != 0;
  NN_ASSIGN(Node* const node, ctx.AddNode("quantize", {x}, a));
  Type type = node->output()->type();
  type.dtype = dtype;
  type.quant = std::move(quant);
  node->output()->set_type(std::move(type));
  ctx.SetOutput(0, node->output());
  return {};
}

// Computes (x - zero point) * scale with real operators, for computed integers whose type has no
// quantization.
Status DequantizePlain(ImportContext& ctx, Value* x, const Quant& q, DType to) {
  CastAttrs cast;
  NN_ASSIGN(Value * y, ctx.Add("cast", {x}, cast));
  std::vector<int64_t> dims;
  if (q.per_axis()) {
    dims.assign(static_cast<size_t>(x->type().rank() - q.axis), 1);
    dims[0] = static_cast<int64_t>(q.scales.size());
  }
  if (!q.zero_points.empty()) {
    const std::vector<float> zeros(q.zero_points.begin(), q.zero_points.end());
    NN_ASSIGN(y, ctx.Add("sub", {y, ctx.Constant(Tensor::Of(dims, zeros))}));
  }
  NN_ASSIGN(y, ctx.Add("mul", {y, ctx.Constant(Tensor::Of(dims, q.scales))}));
  if (to == DType::kF32) {
    ctx.SetOutput(0, y);
    return {};
  }
  cast.to = to;
  return ctx.Emit("cast", {y}, cast);
}

Status ImportDequantizeLinear(ImportContext& ctx) {
  NN_ASSIGN(Value * x, ctx.Required(0));
  DType to = ctx.input(1) == nullptr ? DType::kF32 : ctx.input(1)->dtype();
  if (const int64_t wanted = ctx.Int("output_dtype", 0); wanted != 0)
    to = DTypeOf(static_cast<int>(wanted));
  NN_ASSIGN(const auto quant, ReadQuant(ctx, x->type()));
  if (ctx.input(2) != nullptr && ctx.input(2)->dtype() != x->dtype())
    return ModelError("the zero point is {}, but the input is {}", DTypeName(ctx.input(2)->dtype()),
                      DTypeName(x->dtype()));
  if (x->is_constant()) {
    x = ctx.graph().AddConstant(x->constant(), x->name(), quant);
  } else if (!x->type().quantized()) {
    if (!x->is_input()) return DequantizePlain(ctx, x, *quant, to);
    Type type = x->type();
    type.quant = quant;
    x->set_type(std::move(type));
  } else if (!x->type().quant->SameMapping(*quant)) {
    return UnsupportedError("DequantizeLinear of {} with a different scale or zero point",
                            x->type().ToString());
  }
  return ctx.Emit("dequantize", {x}, DequantizeAttrs{to});
}

}  // namespace

namespace {

constexpr ImportRow kQuantizeImports[] = {
    {.op = "QuantizeLinear", .since = 10, .import = ImportQuantizeLinear},
    {.op = "DequantizeLinear", .since = 10, .import = ImportDequantizeLinear},
};

}  // namespace

Family QuantizeFamily() {
  return {.imports = kQuantizeImports};
}

}  // namespace nn::onnx
