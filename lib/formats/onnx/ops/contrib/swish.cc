// Swish and SwiGLU. Export of silu is in elementwise.cc.
#include <algorithm>

#include "formats/onnx/family.h"

namespace nn::onnx {
namespace {

// x * sigmoid(alpha * x)
Result<Value*> AddSwish(ImportContext& ctx, Value* x) {
  const float alpha = ctx.Float("alpha", 1.0f);
  if (!IsFloat(x->dtype()))
    return ModelError("{} needs a floating-point input, not {}", ctx.node().op_type(),
                      DTypeName(x->dtype()));
  if (alpha == 1.0f) return ctx.Add("silu", {x});
  NN_ASSIGN(Value* const scale, ctx.Number(x->dtype(), static_cast<double>(alpha)));
  NN_ASSIGN(Value* const scaled, ctx.Add("mul", {x, scale}));
  NN_ASSIGN(Value* const gate, ctx.Add("sigmoid", {scaled}));
  return ctx.Add("mul", {x, gate});
}

Status ImportSwish(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const y, AddSwish(ctx, x));
  ctx.SetOutput(0, y);
  return {};
}

// The function of the specification: Swish, then Mul.
Status ImportSwiGlu(ImportContext& ctx) {
  NN_ASSIGN(Value* const a, ctx.Required(0));
  NN_ASSIGN(Value* const b, ctx.Required(1));
  if (a->type().ranked() && b->type().ranked()) {
    const Dims &p = *a->type().dims, &q = *b->type().dims;
    const bool same = std::ranges::equal(
        p, q, [](const Dim& x, const Dim& y) { return !x.is_const() || !y.is_const() || x == y; });
    if (!same)
      return ModelError("the inputs are {} and {}; they must have one shape", a->type().ToString(),
                        b->type().ToString());
  }
  NN_ASSIGN(Value* const gate, AddSwish(ctx, a));
  return ctx.Emit("mul", {gate, b});
}

constexpr ImportRow kSwishImports[] = {
    {.op = "SwiGLU", .since = 28, .import = ImportSwiGlu},
    {.op = "Swish", .since = 24, .import = ImportSwish},
};

}  // namespace

Family SwishFamily() {
  return {.imports = kSwishImports};
}

}  // namespace nn::onnx
