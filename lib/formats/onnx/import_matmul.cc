#include "formats/onnx/import.h"
#include "ops/matmul.h"
#include "ops/shape.h"

namespace nn::onnx {
namespace {

Status ImportMatMul(ImportContext& ctx) {
  NN_ASSIGN(Value* const a, ctx.Required(0));
  NN_ASSIGN(Value* const b, ctx.Required(1));
  return ctx.Emit("matmul", {a, b}, MatmulAttrs{});
}

// The value times a number of its type.
Result<Value*> Scaled(ImportContext& ctx, Value* v, float factor, std::string_view name) {
  if (factor == 1.0f) return v;
  if (!IsFloat(v->dtype()))
    return UnsupportedError("Gemm of {} with {} = {}", DTypeName(v->dtype()), name, factor);
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(v->dtype(), {}));
  b.SetDouble(0, static_cast<double>(factor));
  return ctx.Add("mul", {v, ctx.Constant(b.Finish())});
}

// C as a bias, where it has one element for each column: [N] or [1, N].
Result<Value*> AsBias(ImportContext& ctx, Value* c, const Dim& columns) {
  const Type& type = c->type();
  if (!type.ranked() || type.rank() == 0 || type.rank() > 2) return nullptr;
  if (!(type.dims->back() == columns)) return nullptr;
  if (type.rank() == 1) return c;
  if (!(type.dim(0) == 1)) return nullptr;
  return ctx.Add("reshape", {c}, ReshapeAttrs{{columns}, false});
}

// Versions 1 and 6 have an attribute `broadcast`; the shapes say the same.
Status ImportGemm(ImportContext& ctx) {
  NN_ASSIGN(Value* const a, ctx.Required(0));
  NN_ASSIGN(Value* const b, ctx.Required(1));
  for (const Value* v : {a, b})
    if (v->type().ranked() && v->type().rank() != 2)
      return ModelError("Gemm of {}, needs a matrix", v->type().ToString());
  const float alpha = ctx.Float("alpha", 1.0f);
  const float beta = ctx.Float("beta", 1.0f);
  const MatmulAttrs attrs{ctx.Int("transA", 0) != 0, ctx.Int("transB", 0) != 0};
  Value* c = ctx.input(2);
  if (c != nullptr && beta == 0.0f) c = nullptr;
  if (c != nullptr) {
    NN_ASSIGN(c, Scaled(ctx, c, beta, "beta"));
  }
  if (c != nullptr && alpha == 1.0f && b->type().ranked()) {
    NN_ASSIGN(Value* const bias, AsBias(ctx, c, b->type().dim(attrs.transpose_b ? 0 : 1)));
    if (bias != nullptr) return ctx.Emit("matmul", {a, b, bias}, attrs);
  }
  if (c == nullptr && alpha == 1.0f) return ctx.Emit("matmul", {a, b}, attrs);
  NN_ASSIGN(Value * y, ctx.Add("matmul", {a, b}, attrs));
  NN_ASSIGN(y, Scaled(ctx, y, alpha, "alpha"));
  if (c != nullptr) {
    NN_ASSIGN(y, ctx.Add("add", {y, c}));
  }
  ctx.SetOutput(0, y);
  return {};
}

}  // namespace

void AddMatmulImports(ImportTable& t) {
  t.Add("", "MatMul", 1, ImportMatMul);
  t.Add("", "Gemm", 1, ImportGemm);
}

}  // namespace nn::onnx
