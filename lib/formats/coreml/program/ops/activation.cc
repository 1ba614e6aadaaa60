// Activations that are no one-to-one operations.
#include <limits>

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

// ---- Export -------------------------------------------------------------------------------------

// A clip that is open on a side is an extremum: other writers have no infinite bounds.
Status WriteClip(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool is_above = a.min == -kInfinity, is_below = a.max == kInfinity;
  if (is_above && is_below) return ctx.Alias(node, node.input(0));
  if (is_above) return ctx.Add("minimum").In("x", node.input(0)).Number("y", a.max).To(node);
  if (is_below) return ctx.Add("maximum").In("x", node.input(0)).Number("y", a.min).To(node);
  return ctx.Add("clip")
      .In("x", node.input(0))
      .Number("alpha", a.min)
      .Number("beta", a.max)
      .To(node);
}

std::optional<std::string> WhyNotClip(const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (node.inputs().size() > 1) return "the bounds of clip must be constants";
  if (a.min > a.max) return "its bounds are in the other order";
  return std::nullopt;
}

Status WriteGelu(ExportContext& ctx, const Node& node) {
  const GeluApproximation approximate = node.attrs<GeluAttrs>().approximate;
  const std::string_view mode = approximate == GeluApproximation::kTanh ? "TANH_APPROXIMATION"
                                : approximate == GeluApproximation::kSigmoid
                                    ? "SIGMOID_APPROXIMATION"
                                    : "EXACT";
  return ctx.Add("gelu").In("x", node.input(0)).Text("mode", mode).To(node);
}

// The slopes of a prelu, one for each index of axis 1; nullopt if it has others.
std::optional<Tensor> SlopesOfChannels(const Node& node) {
  const Tensor* const slope = ConstantOf(node, 1);
  const Type& x = node.input(0)->type();
  if (slope == nullptr || x.rank() < 2 || !x.dim(1).is_const()) return std::nullopt;
  const auto rank = static_cast<size_t>(x.rank());
  std::vector<int64_t> dims(slope->dims());
  if (dims.size() > rank) return std::nullopt;
  dims.insert(dims.begin(), rank - dims.size(), 1);
  for (size_t i = 0; i < rank; ++i)
    if (dims[i] != (i == 1 ? x.dim(1).value() : 1)) return std::nullopt;
  const auto vector = slope->Reshaped({dims[1]});
  return vector ? std::optional(*vector) : std::nullopt;
}

Status WritePrelu(ExportContext& ctx, const Node& node) {
  const auto slopes = SlopesOfChannels(node);
  if (!slopes) return InternalError("prelu has no slope for each channel");
  return ctx.Add("prelu").In("x", node.input(0)).Const("alpha", *slopes).To(node);
}

std::optional<std::string> WhyNotPrelu(const Node& node) {
  if (!SlopesOfChannels(node)) return "the slopes must be constants, one for each index of axis 1";
  return std::nullopt;
}

Status WriteSoftmax(ExportContext& ctx, const Node& node) {
  return ctx.Add("softmax")
      .In("x", node.input(0))
      .Int("axis", node.attrs<SoftmaxAttrs>().axis)
      .To(node);
}

std::optional<std::string> WhyNotSoftmax(const Node& node) {
  if (node.attrs<SoftmaxAttrs>().beta != 1) return "ML Programs have no softmax with a beta";
  return std::nullopt;
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
  static constexpr ExportRow kExports[] = {
      {"clip", WriteClip, WhyNotClip},
      {"gelu", WriteGelu},
      {"prelu", WritePrelu, WhyNotPrelu},
      {"softmax", WriteSoftmax, WhyNotSoftmax},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program
