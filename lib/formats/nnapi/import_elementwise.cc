#include "formats/nnapi/import.h"
#include "ops/elementwise.h"

namespace nn::nnapi {
namespace {

Status EmitBinary(ImportContext& ctx, std::string_view op) {
  NN_ASSIGN(Value* const a, ctx.Required(0));
  NN_ASSIGN(Value* const b, ctx.Required(1));
  if (a->dtype() != b->dtype())
    return ModelError("inputs of {} and {}", DTypeName(a->dtype()), DTypeName(b->dtype()));
  return ctx.EmitFused(op, {a, b}, {}, 2);
}

Status ImportAdd(ImportContext& ctx) {
  return EmitBinary(ctx, "add");
}
Status ImportMul(ImportContext& ctx) {
  return EmitBinary(ctx, "mul");
}

Status EmitClip(ImportContext& ctx, float min, float max) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("clip", {x}, ClipAttrs{min, max});
}

Status ImportRelu1(ImportContext& ctx) {
  return EmitClip(ctx, -1, 1);
}
Status ImportRelu6(ImportContext& ctx) {
  return EmitClip(ctx, 0, 6);
}

Status ImportDequantize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("dequantize", {x}, DequantizeAttrs{});
}

}  // namespace

void AddElementwiseImports(ImportTable& t) {
  t[OperationType::kAdd] = ImportAdd;
  t[OperationType::kMul] = ImportMul;
  t[OperationType::kRelu1] = ImportRelu1;
  t[OperationType::kRelu6] = ImportRelu6;
  t[OperationType::kDequantize] = ImportDequantize;
}

}  // namespace nn::nnapi
