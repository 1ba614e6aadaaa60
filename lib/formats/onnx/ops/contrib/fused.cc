// Activations with a bias, and small operators of com.microsoft.
#include <algorithm>
#include <utility>
#include <vector>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::onnx {
namespace {

// Input 0 plus input 1, if present.
Result<Value*> WithAddend(ImportContext& ctx, size_t addend) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  Value* const b = ctx.input(addend);
  return b == nullptr ? Result<Value*>(x) : ctx.Add("add", {x, b});
}

template <GeluApproximation approximate>
Status ImportContribGelu(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, WithAddend(ctx, 1));
  return ctx.Emit("gelu", {x}, GeluAttrs{approximate});
}

// x * sigmoid(alpha * x)
Status ImportQuickGelu(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const float alpha = ctx.Float("alpha", 1.702f);
  if (alpha == 1.702f) return ctx.Emit("gelu", {x}, GeluAttrs{GeluApproximation::kSigmoid});
  if (alpha == 1.0f) return ctx.Emit("silu", {x});
  NN_ASSIGN(Value* const factor, ctx.Number(x->dtype(), static_cast<double>(alpha)));
  NN_ASSIGN(Value* const scaled, ctx.Add("mul", {x, factor}));
  NN_ASSIGN(Value* const gate, ctx.Add("sigmoid", {scaled}));
  return ctx.Emit("mul", {x, gate});
}

// X + bias + skip
Status ImportBiasAdd(ImportContext& ctx) {
  NN_ASSIGN(Value* const sum, WithAddend(ctx, 1));
  NN_ASSIGN(Value* const skip, ctx.Required(2));
  return ctx.Emit("add", {sum, skip});
}

// The first half of X + bias along the last axis, times the gelu of the second.
Status ImportBiasSplitGelu(ImportContext& ctx) {
  NN_ASSIGN(Value* const sum, WithAddend(ctx, 1));
  if (!sum->type().ranked() || sum->type().rank() == 0 || !sum->type().dims->back().is_const())
    return UnsupportedError("BiasSplitGelu of {}", sum->type().ToString());
  const int64_t size = sum->type().dims->back().value();
  if (size % 2 != 0) return ModelError("{} elements cannot be halved", size);
  NN_ASSIGN(Node* const halves,
            ctx.AddNode("split", {sum}, SplitAttrs{-1, {size / 2, size / 2}}, 2));
  NN_ASSIGN(Value* const gate, ctx.Add("gelu", {halves->output(1)}, GeluAttrs{}));
  return ctx.Emit("mul", {halves->output(0), gate});
}

// The axis is an input.
Status ImportContribExpandDims(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const given, ctx.Required(1));
  NN_ASSIGN(Value* const axis, Folded(ctx, given));
  if (!axis->is_constant() || axis->constant().elements() != 1)
    return UnsupportedError("ExpandDims with the axis {}, which must be constant",
                            axis->type().ToString());
  return ctx.Emit("expand_dims", {x}, AxesAttrs{{axis->constant().GetInt(0)}});
}

constexpr ImportRow kContribFusedImports[] = {
    {.op = "BiasAdd", .import = ImportBiasAdd, .domain = kMicrosoft},
    {.op = "BiasGelu", .import = ImportContribGelu<GeluApproximation::kNone>, .domain = kMicrosoft},
    {.op = "BiasSplitGelu", .import = ImportBiasSplitGelu, .domain = kMicrosoft},
    {.op = "ExpandDims", .import = ImportContribExpandDims, .domain = kMicrosoft},
    {.op = "FastGelu", .import = ImportContribGelu<GeluApproximation::kTanh>, .domain = kMicrosoft},
    {.op = "Gelu", .import = ImportContribGelu<GeluApproximation::kNone>, .domain = kMicrosoft},
    {.op = "QuickGelu", .import = ImportQuickGelu, .domain = kMicrosoft},
};

}  // namespace

Family ContribFusedFamily() {
  return {.imports = kContribFusedImports};
}

}  // namespace nn::onnx
