// Type inference of operators on integers with separate scales and zero points.
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/infer/infer.h"
#include "formats/onnx/infer/window.h"
#include "ops/support/types.h"

namespace nn::onnx {
namespace {

Result<std::optional<Dims>> MatmulDims(TypeContext& ctx, size_t first, size_t second) {
  if (ctx.dims(first) == nullptr || ctx.dims(second) == nullptr) return std::optional<Dims>();
  Dims a = *ctx.dims(first);
  Dims b = *ctx.dims(second);
  if (a.empty() || b.empty()) return ModelError("the operands must have rank 1 or more");
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.emplace_back(1);
  NN_RETURN_IF_ERROR(ctx.Same(a.back(), b[b.size() - 2], "columns and rows"));
  const Dim m = a[a.size() - 2];
  const Dim n = b.back();
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  NN_ASSIGN(Dims dims, BroadcastDims(a, b));
  if (!row) dims.push_back(m);
  if (!column) dims.push_back(n);
  return std::optional(std::move(dims));
}

Status InferMatMulInteger(TypeContext& ctx) {
  NN_ASSIGN(auto dims, MatmulDims(ctx, 0, 1));
  ctx.Set(0, DType::kI32, std::move(dims));
  return {};
}

Status InferQLinearMatMul(TypeContext& ctx) {
  NN_ASSIGN(auto dims, MatmulDims(ctx, 0, 3));
  ctx.Set(0, ctx.dtype(7), std::move(dims));
  return {};
}

Status InferConvInteger(TypeContext& ctx) {
  NN_ASSIGN(auto dims, WindowDims(ctx, 0, 1));
  ctx.Set(0, DType::kI32, std::move(dims));
  return {};
}

Status InferQLinearConv(TypeContext& ctx) {
  NN_ASSIGN(auto dims, WindowDims(ctx, 0, 3));
  ctx.Set(0, ctx.dtype(7), std::move(dims));
  return {};
}

Status InferQuantizeLinear(TypeContext& ctx) {
  const DType wanted = ctx.TypeAttr("output_dtype", DType::kUnknown);
  DType dtype = wanted != DType::kUnknown ? wanted : DType::kU8;
  if (ctx.has(2)) {
    dtype = ctx.dtype(2);
    if (wanted != DType::kUnknown && dtype != DType::kUnknown && wanted != dtype)
      return ModelError("output_dtype is {}, but the zero point is {}", DTypeName(wanted),
                        DTypeName(dtype));
  }
  ctx.Set(0, dtype, ctx.in(0).tensor.dims);
  return {};
}

Status InferDequantizeLinear(TypeContext& ctx) {
  // Before version 19 the result is f32, like the scale.
  ctx.Set(0, ctx.TypeAttr("output_dtype", ctx.node().opset() < 19 ? DType::kF32 : ctx.dtype(1)),
          ctx.in(0).tensor.dims);
  return {};
}

Status InferDynamicQuantizeLinear(TypeContext& ctx) {
  ctx.Set(0, DType::kU8, ctx.in(0).tensor.dims);
  ctx.Set(1, DType::kF32, Dims{});
  ctx.Set(2, DType::kU8, Dims{});
  return {};
}

}  // namespace

void AddIntegerInferences(InferTable& t) {
  t.Add("", "MatMulInteger", 10, InferMatMulInteger);
  t.Add("", "QLinearMatMul", 10, InferQLinearMatMul);
  t.Add("", "ConvInteger", 10, InferConvInteger);
  t.Add("", "QLinearConv", 10, InferQLinearConv);
  t.Add("", "QuantizeLinear", 10, InferQuantizeLinear);
  t.Add("", "DequantizeLinear", 10, InferDequantizeLinear);
  t.Add("", "DynamicQuantizeLinear", 11, InferDynamicQuantizeLinear);
}

}  // namespace nn::onnx
