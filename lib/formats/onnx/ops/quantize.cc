// QuantizeLinear and DequantizeLinear, of ONNX and of com.microsoft. Scales and zero points that
// are constant become part of the quantized value's type (Type::quant).
#include "formats/onnx/family.h"
#include "formats/onnx/linear_quant.h"
#include "formats/onnx/tensor.h"

namespace nn::onnx {

namespace {

// The mapping of inputs 1 and 2.
Result<LinearQuant> ReadMapping(ImportContext& ctx) {
  NN_ASSIGN(LinearQuant q, ReadLinearQuant(ctx, 1, 2));
  q.axis = ctx.Int("axis", 1);
  q.block = ctx.Int("block_size", 0);
  if (q.block < 0) return ModelError("block_size is {}", q.block);
  const Type& scale = q.scale->type();
  if (ctx.opset() < 13 && NormalDomain(ctx.node().domain()).empty() && scale.ranked() &&
      scale.rank() == 1 && scale.dim(0).is_const() && scale.dim(0) != 1)
    return ModelError("operator set {} has no scales along an axis; they are {}", ctx.opset(),
                      scale.ToString());
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
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_RETURN_IF_ERROR(CheckPrecision(ctx));
  DType dtype = DType::kU8;
  if (const int64_t wanted = ctx.Int("output_dtype", 0); wanted != 0)
    dtype = DTypeOf(static_cast<int>(wanted));
  if (ctx.input(2) != nullptr) dtype = ctx.input(2)->dtype();
  NN_ASSIGN(const LinearQuant q, ReadMapping(ctx));
  NN_ASSIGN(Value* const y, AddQuantize(ctx, x, q, dtype, ctx.Int("saturate", 1) != 0));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportDequantizeLinear(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  DType to = ctx.input(1) == nullptr ? DType::kF32 : ctx.input(1)->dtype();
  if (const int64_t wanted = ctx.Int("output_dtype", 0); wanted != 0)
    to = DTypeOf(static_cast<int>(wanted));
  NN_ASSIGN(const LinearQuant q, ReadMapping(ctx));
  if (ctx.input(2) != nullptr && ctx.input(2)->dtype() != x->dtype())
    return ModelError("the zero point is {}, but the input is {}", DTypeName(ctx.input(2)->dtype()),
                      DTypeName(x->dtype()));
  NN_ASSIGN(Value* const y, AddDequantize(ctx, x, q, to));
  ctx.SetOutput(0, y);
  return {};
}

}  // namespace

namespace {

constexpr ImportRow kQuantizeImports[] = {
    {.op = "QuantizeLinear", .since = 10, .import = ImportQuantizeLinear},
    {.op = "DequantizeLinear", .since = 10, .import = ImportDequantizeLinear},
    {.op = "QuantizeLinear", .import = ImportQuantizeLinear, .domain = kMicrosoft},
    {.op = "DequantizeLinear", .import = ImportDequantizeLinear, .domain = kMicrosoft},
};

}  // namespace

Family QuantizeFamily() {
  return {.imports = kQuantizeImports};
}

}  // namespace nn::onnx
