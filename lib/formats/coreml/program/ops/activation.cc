// Activations that are no one-to-one operations.
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/operands.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/softmax.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

// An operand of float16 is computed in float32, and rounded once.
Result<Term> WideInput(ImportContext& ctx, std::string_view name) {
  NN_ASSIGN(Value* const v, ctx.In(name));
  return Wide(v);
}

Term Number(float v) {
  return Tensor::Scalar(v);
}

// min(beta, x >= 0 ? x : alpha * x)
Status ImportClampedRelu(ImportContext& ctx) {
  NN_ASSIGN(const Term x, WideInput(ctx, "x"));
  NN_ASSIGN(const float alpha, ctx.Float("alpha"));
  NN_ASSIGN(const float beta, ctx.Float("beta"));
  return ctx.EmitCast(Minimum(Apply("leaky_relu", {x}, LeakyReluAttrs{alpha}), Number(beta)));
}

Status ImportGelu(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const std::string mode, ctx.String("mode"));
  const GeluApproximation approximate = mode == "TANH_APPROXIMATION" ? GeluApproximation::kTanh
                                        : mode == "SIGMOID_APPROXIMATION"
                                            ? GeluApproximation::kSigmoid
                                            : GeluApproximation::kNone;
  if (approximate == GeluApproximation::kNone && mode != "EXACT")
    return ModelError("mode {} is unknown", mode);
  return ctx.Emit("gelu", {x}, GeluAttrs{approximate});
}

// alpha * x + beta
Status ImportLinear(ImportContext& ctx) {
  NN_ASSIGN(const Term x, WideInput(ctx, "x"));
  NN_ASSIGN(const float alpha, ctx.Float("alpha"));
  NN_ASSIGN(const float beta, ctx.Float("beta"));
  return ctx.EmitCast(x * Number(alpha) + Number(beta));
}

// alpha * tanh(beta * x)
Status ImportScaledTanh(ImportContext& ctx) {
  NN_ASSIGN(const Term x, WideInput(ctx, "x"));
  NN_ASSIGN(const float alpha, ctx.Float("alpha"));
  NN_ASSIGN(const float beta, ctx.Float("beta"));
  return ctx.EmitCast(Apply("tanh", {x * Number(beta)}) * Number(alpha));
}

Status ImportRelu6(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  return ctx.Emit("clip", {x}, ClipAttrs{0, 6});
}

// The elements of a vector along axis 1 of x.
Result<Term> OfChannels(ImportContext& ctx, std::string_view name, int rank) {
  NN_ASSIGN(const Term vector, WideInput(ctx, name));
  std::vector<int64_t> axes;
  for (int64_t axis = 1; axis < rank - 1; ++axis) axes.push_back(axis);
  return axes.empty() ? vector : ExpandDims(vector, axes);
}

Status ImportPrelu(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const Term wide, WideInput(ctx, "x"));
  NN_ASSIGN(const Term alpha, OfChannels(ctx, "alpha", x->type().rank()));
  return ctx.EmitCast(Apply("prelu", {wide, alpha}));
}

// alpha * log(1 + e^(beta * x))
Status ImportSoftplusParametric(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const Term wide, WideInput(ctx, "x"));
  NN_ASSIGN(const Term alpha, OfChannels(ctx, "alpha", x->type().rank()));
  NN_ASSIGN(const Term beta, OfChannels(ctx, "beta", x->type().rank()));
  return ctx.EmitCast(Apply("softplus", {wide * beta}) * alpha);
}

Status ImportSoftmax(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const int64_t axis, ctx.Axis("axis", x->type().rank()));
  return ctx.Emit("softmax", {x}, SoftmaxAttrs{.axis = axis});
}

// x >= alpha ? x : 0
Status ImportThresholdedRelu(ImportContext& ctx) {
  NN_ASSIGN(const Term x, WideInput(ctx, "x"));
  NN_ASSIGN(const float alpha, ctx.Float("alpha"));
  return ctx.EmitCast(Select(Less(x, Number(alpha)), Number(0), x));
}

}  // namespace

Family ActivationFamily() {
  static constexpr ImportRow kImports[] = {
      {"clamped_relu", ImportClampedRelu},
      {"gelu", ImportGelu},
      {"linear_activation", ImportLinear},
      {"prelu", ImportPrelu},
      {"relu6", ImportRelu6},
      {"scaled_tanh", ImportScaledTanh},
      {"softmax", ImportSoftmax},
      {"softplus_parametric", ImportSoftplusParametric},
      {"thresholded_relu", ImportThresholdedRelu},
  };
  return {kImports};
}

}  // namespace nn::coreml::program
