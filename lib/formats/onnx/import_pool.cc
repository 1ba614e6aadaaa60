#include <numeric>

#include "formats/onnx/import.h"
#include "formats/onnx/window_attrs.h"
#include "ops/pool.h"
#include "ops/reduce.h"

namespace nn::onnx {
namespace {

template <typename A>
Status ReadPool(const ImportContext& ctx, A& a) {
  if (!ctx.HasAttr("kernel_shape")) return ModelError("attribute kernel_shape is missing");
  a.kernel = ctx.Ints("kernel_shape");
  a.ceil_mode = ctx.Int("ceil_mode", 0) != 0;
  return ReadWindow(ctx, a);
}

Status ImportMaxPool(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  MaxPoolAttrs a;
  NN_RETURN_IF_ERROR(ReadPool(ctx, a));
  a.storage_order = ctx.Int("storage_order", 0);
  return ctx.Emit("max_pool", {x}, std::move(a));
}

Status ImportAveragePool(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  AveragePoolAttrs a;
  NN_RETURN_IF_ERROR(ReadPool(ctx, a));
  a.count_include_pad = ctx.Int("count_include_pad", 0) != 0;
  return ctx.Emit("average_pool", {x}, std::move(a));
}

// p is a float in version 1, an integer from version 2 on.
float ReadP(const ImportContext& ctx) {
  return ctx.opset() < 2 ? ctx.Float("p", 2.0f) : static_cast<float>(ctx.Int("p", 2));
}

Status ImportLpPool(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  LpPoolAttrs a;
  NN_RETURN_IF_ERROR(ReadPool(ctx, a));
  a.p = ReadP(ctx);
  return ctx.Emit("lp_pool", {x}, std::move(a));
}

// Global pooling: a reduction over the spatial axes.
Status EmitGlobal(ImportContext& ctx, std::string_view op) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (!x->type().ranked())
    return UnsupportedError("{} of a tensor of unknown rank", ctx.node().op_type());
  if (x->type().rank() < 3) return ModelError("{} has no spatial axes", x->type().ToString());
  ReduceAttrs a;
  a.axes.resize(static_cast<size_t>(x->type().rank()) - 2);
  std::iota(a.axes.begin(), a.axes.end(), 2);
  return ctx.Emit(op, {x}, std::move(a));
}

Status ImportGlobalAveragePool(ImportContext& ctx) {
  return EmitGlobal(ctx, "reduce_mean");
}
Status ImportGlobalMaxPool(ImportContext& ctx) {
  return EmitGlobal(ctx, "reduce_max");
}

Status ImportGlobalLpPool(ImportContext& ctx) {
  const float p = ReadP(ctx);
  if (p == 1.0f) return EmitGlobal(ctx, "reduce_l1");
  if (p == 2.0f) return EmitGlobal(ctx, "reduce_l2");
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const auto dims = x->type().const_dims();
  if (!dims || dims->size() < 3)
    return UnsupportedError("GlobalLpPool with p = {} of {}", p, x->type().ToString());
  LpPoolAttrs a;
  a.kernel.assign(dims->begin() + 2, dims->end());
  a.p = p;
  return ctx.Emit("lp_pool", {x}, std::move(a));
}

Status ImportMaxUnpool(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const indices, ctx.Required(1));
  MaxUnpoolAttrs a;
  a.kernel = ctx.Ints("kernel_shape");
  a.strides = ctx.Ints("strides");
  a.pads = ctx.Ints("pads");
  std::vector<Value*> inputs = {x, indices};
  if (const Tensor* shape = ctx.Constant(2)) {
    a.output_shape = ToDims(shape->ToInts());
    if (a.output_shape.size() < 3)
      return ModelError("output_shape has {} entries", a.output_shape.size());
    a.output_shape.erase(a.output_shape.begin(), a.output_shape.begin() + 2);
  } else if (Value* shape_input = ctx.input(2)) {
    inputs.push_back(shape_input);
  }
  return ctx.Emit("max_unpool", std::move(inputs), std::move(a));
}

}  // namespace

void AddPoolImports(ImportTable& t) {
  t.Add("", "MaxPool", 1, ImportMaxPool);
  t.Add("", "AveragePool", 1, ImportAveragePool);
  t.Add("", "LpPool", 1, ImportLpPool);
  t.Add("", "GlobalAveragePool", 1, ImportGlobalAveragePool);
  t.Add("", "GlobalMaxPool", 1, ImportGlobalMaxPool);
  t.Add("", "GlobalLpPool", 1, ImportGlobalLpPool);
  t.Add("", "MaxUnpool", 9, ImportMaxUnpool);
}

}  // namespace nn::onnx
