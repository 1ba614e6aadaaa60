#include <limits>

#include "formats/onnx/import.h"
#include "ops/elementwise.h"

namespace nn::onnx {
namespace {

// Before operator set 11 the bounds are attributes.
Status ImportClip6(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  ClipAttrs a;
  a.min = ctx.Float("min", std::numeric_limits<float>::lowest());
  a.max = ctx.Float("max", std::numeric_limits<float>::max());
  return ctx.Emit("clip", {x}, a);
}

Status ImportClip11(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const Tensor* low = ctx.Constant(1);
  const Tensor* high = ctx.Constant(2);
  const bool constant = (ctx.input(1) == nullptr || low != nullptr) &&
                        (ctx.input(2) == nullptr || high != nullptr);
  if (constant && x->dtype() == DType::kF32) {
    ClipAttrs a;
    if (low != nullptr) a.min = static_cast<float>(low->GetDouble(0));
    if (high != nullptr) a.max = static_cast<float>(high->GetDouble(0));
    return ctx.Emit("clip", {x}, a);
  }
  Value* y = x;
  if (Value* v = ctx.input(1)) {
    NN_ASSIGN(y, ctx.Add("maximum", {y, v}));
  }
  if (Value* v = ctx.input(2)) {
    NN_ASSIGN(y, ctx.Add("minimum", {y, v}));
  }
  ctx.SetOutput(0, y);
  return {};
}

}  // namespace

void AddElementwiseImports(ImportTable& t) {
  t.Add("", "Clip", 1, ImportClip6);
  t.Add("", "Clip", 11, ImportClip11);
}

}  // namespace nn::onnx
