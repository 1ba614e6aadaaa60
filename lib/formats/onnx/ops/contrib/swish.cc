// Swish and SwiGLU. Export of silu is in elementwise.cc.
#include <algorithm>

#include "formats/onnx/family.h"

namespace nn::onnx {
namespace {

// x * sigmoid(alpha * x)
Result<Term> SwishOf(const ImportContext& ctx, Value* x) {
  const float alpha = ctx.Float("alpha", 1.0f);
  if (!IsFloat(x->dtype()))
    return ModelError("{} needs a floating-point input, not {}", ctx.node().op_type(),
                      DTypeName(x->dtype()));
  if (alpha == 1.0f) return Apply("silu", {x});
  return x * Apply("sigmoid", {Term(x) * alpha});
}

Status ImportSwish(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Term y, SwishOf(ctx, x));
  return ctx.EmitTerm(y);
}

// The function of the specification: Swish, then Mul.
Status ImportSwiGlu(ImportContext& ctx) {
  Value* const a = ctx.input(0);
  Value* const b = ctx.input(1);
  if (a->type().ranked() && b->type().ranked()) {
    const Dims &p = *a->type().dims, &q = *b->type().dims;
    const bool same = std::ranges::equal(
        p, q, [](const Dim& x, const Dim& y) { return !x.is_const() || !y.is_const() || x == y; });
    if (!same)
      return ModelError("the inputs are {} and {}; they must have one shape", a->type().ToString(),
                        b->type().ToString());
  }
  NN_ASSIGN(const Term gate, SwishOf(ctx, a));
  return ctx.EmitTerm(gate * b);
}

constexpr ImportRow kSwishImports[] = {
    {.op = "SwiGLU", .since = 28, .import = ImportSwiGlu, .inputs = 2},
    {.op = "Swish", .since = 24, .import = ImportSwish, .inputs = 1},
};

}  // namespace

Family SwishFamily() {
  return {.imports = kSwishImports};
}

}  // namespace nn::onnx
