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
Term WithAddend(const ImportContext& ctx, size_t addend) {
  Value* const x = ctx.input(0);
  Value* const b = ctx.input(addend);
  return b == nullptr ? Term(x) : x + Term(b);
}

template <GeluApproximation approximate>
Status ImportContribGelu(ImportContext& ctx) {
  return ctx.Emit("gelu", {WithAddend(ctx, 1)}, GeluAttrs{approximate});
}

// x * sigmoid(alpha * x)
Status ImportQuickGelu(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const float alpha = ctx.Float("alpha", 1.702f);
  if (alpha == 1.702f) return ctx.Emit("gelu", {x}, GeluAttrs{GeluApproximation::kSigmoid});
  if (alpha == 1.0f) return ctx.Emit("silu", {x});
  return ctx.EmitTerm(x * Apply("sigmoid", {Term(x) * alpha}));
}

// X + bias + skip
Status ImportBiasAdd(ImportContext& ctx) {
  NN_ASSIGN(Value* const skip, ctx.Required(2));
  return ctx.EmitTerm(WithAddend(ctx, 1) + skip);
}

// The first half of X + bias along the last axis, times the gelu of the second.
Status ImportBiasSplitGelu(ImportContext& ctx) {
  NN_ASSIGN(Value* const sum, ctx.Build(WithAddend(ctx, 1)));
  if (!sum->type().ranked() || sum->type().rank() == 0 || !sum->type().dims->back().is_const())
    return UnsupportedError("BiasSplitGelu of {}", sum->type().ToString());
  const int64_t size = sum->type().dims->back().value();
  if (size % 2 != 0) return ModelError("{} elements cannot be halved", size);
  const std::vector<Term> halves =
      ApplyAll("split", {sum}, SplitAttrs{-1, {size / 2, size / 2}}, 2);
  return ctx.EmitTerm(halves[0] * Apply("gelu", {halves[1]}, GeluAttrs{}));
}

// The axis is an input.
Status ImportContribExpandDims(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(Value* const axis, Folded(ctx, ctx.input(1)));
  if (!axis->is_constant() || axis->constant().elements() != 1)
    return UnsupportedError("ExpandDims with the axis {}, which must be constant",
                            axis->type().ToString());
  return ctx.Emit("expand_dims", {x}, AxesAttrs{{axis->constant().GetInt(0)}});
}

constexpr ImportRow kContribFusedImports[] = {
    {.op = "BiasAdd", .import = ImportBiasAdd, .inputs = 1, .domain = kMicrosoft},
    {.op = "BiasGelu",
     .import = ImportContribGelu<GeluApproximation::kNone>,
     .inputs = 1,
     .domain = kMicrosoft},
    {.op = "BiasSplitGelu", .import = ImportBiasSplitGelu, .inputs = 1, .domain = kMicrosoft},
    {.op = "ExpandDims", .import = ImportContribExpandDims, .inputs = 2, .domain = kMicrosoft},
    {.op = "FastGelu",
     .import = ImportContribGelu<GeluApproximation::kTanh>,
     .inputs = 1,
     .domain = kMicrosoft},
    {.op = "Gelu",
     .import = ImportContribGelu<GeluApproximation::kNone>,
     .inputs = 1,
     .domain = kMicrosoft},
    {.op = "QuickGelu", .import = ImportQuickGelu, .inputs = 1, .domain = kMicrosoft},
};

}  // namespace

Family ContribFusedFamily() {
  return {.imports = kContribFusedImports};
}

}  // namespace nn::onnx
