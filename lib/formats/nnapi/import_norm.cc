#include "formats/nnapi/import.h"
#include "ops/norm.h"
#include "ops/softmax.h"

namespace nn::nnapi {
namespace {

Status ImportL2Normalization(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  L2NormalizationAttrs a;
  a.epsilon = 0;
  return ctx.Emit("l2_normalization", {x}, std::move(a));
}

// NNAPI's alpha is not divided by the size of the window.
Status ImportLrn(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(const int64_t radius, ctx.Int(1));
  if (radius < 0) return ModelError("radius {}", radius);
  LrnAttrs a;
  a.layout = Layout::kNxc;
  a.size = 2 * radius + 1;
  NN_ASSIGN(a.bias, ctx.Float(2));
  NN_ASSIGN(const float alpha, ctx.Float(3));
  a.alpha = alpha * static_cast<float>(a.size);
  NN_ASSIGN(a.beta, ctx.Float(4));
  return ctx.Emit("lrn", {x}, a);
}

Status ImportSoftmax(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (x->type().ranked() && x->type().rank() != 2 && x->type().rank() != 4)
    return ModelError("input 0 is {}, not of rank 2 or 4", x->type().ToString());
  SoftmaxAttrs a;
  NN_ASSIGN(a.beta, ctx.Float(1));
  return ctx.Emit("softmax", {x}, a);
}

}  // namespace

void AddNormImports(ImportTable& t) {
  t[OperationType::kL2Normalization] = ImportL2Normalization;
  t[OperationType::kLocalResponseNormalization] = ImportLrn;
  t[OperationType::kSoftmax] = ImportSoftmax;
}

}  // namespace nn::nnapi
