#include <fmt/core.h>

#include <array>

#include "formats/coreml/import.h"
#include "formats/coreml/weights.h"
#include "ops/elementwise.h"
#include "ops/shape.h"

namespace nn::coreml {
namespace {

// ---- Activations that are not one-to-one --------------------------------------------------------

Fields Activation(const ImportContext& ctx) {
  return ctx.params().Sub(ctx.params().OneOf("NonlinearityType"));
}

Status ImportLinear(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value * y, ctx.Float(0));
  const Fields p = Activation(ctx);
  if (p.Float("alpha") != 1) {
    NN_ASSIGN(y, ctx.Add("mul", {y, ctx.Scalar(p.Float("alpha"))}));
  }
  if (p.Float("beta") != 0) {
    NN_ASSIGN(y, ctx.Add("add", {y, ctx.Scalar(p.Float("beta"))}));
  }
  ctx.SetOutput(0, y);
  return {};
}

// x below alpha becomes 0.
Status ImportThresholdedRelu(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(Value* const below, ctx.Add("less", {x, ctx.Scalar(Activation(ctx).Float("alpha"))}));
  return ctx.Emit("select", {below, ctx.Scalar(0), x});
}

Status ImportScaledTanh(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(Value* const in, ctx.Add("mul", {x, ctx.Scalar(Activation(ctx).Float("beta"))}));
  NN_ASSIGN(Value* const y, ctx.Add("tanh", {in}));
  return ctx.Emit("mul", {y, ctx.Scalar(Activation(ctx).Float("alpha"))});
}

// A parameter of an activation, one number or one a channel, so that it broadcasts to the input.
Result<Value*> ChannelWise(ImportContext& ctx, Value* x, std::string_view field) {
  const Fields weights = Activation(ctx).Sub(field);
  const auto count = static_cast<int64_t>(WeightCount(weights));
  if (count != 1 && x->type().rank() < 3)
    return ModelError("{} channels of an input of rank {}", count, x->type().rank());
  std::vector<int64_t> dims = {count, 1, 1};
  if (count == 1) dims.assign(static_cast<size_t>(std::min(x->type().rank(), 3)), 1);
  NN_ASSIGN(Tensor tensor, ReadWeights(weights, std::move(dims)));
  return ctx.Constant(std::move(tensor));
}

Status ImportPrelu(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(Value* const slope, ChannelWise(ctx, x, "alpha"));
  return ctx.Emit("prelu", {x, slope});
}

Status ImportParametricSoftplus(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(Value* const alpha, ChannelWise(ctx, x, "alpha"));
  NN_ASSIGN(Value* const beta, ChannelWise(ctx, x, "beta"));
  NN_ASSIGN(Value* const in, ctx.Add("mul", {x, beta}));
  NN_ASSIGN(Value* const y, ctx.Add("softplus", {in}));
  return ctx.Emit("mul", {y, alpha});
}

Status ImportClampedRelu(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(Value* const y,
            ctx.Add("leaky_relu", {x}, LeakyReluAttrs{ctx.params().Float("alpha")}));
  ClipAttrs clip;
  clip.max = ctx.params().Float("beta");
  return ctx.Emit("clip", {y}, clip);
}

Status ImportGelu(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  const std::string_view mode = ctx.params().Enum("mode");
  GeluAttrs a;
  if (mode == "TANH_APPROXIMATION") a.approximate = GeluApproximation::kTanh;
  if (mode == "SIGMOID_APPROXIMATION") a.approximate = GeluApproximation::kSigmoid;
  return ctx.Emit("gelu", {x}, a);
}

// ---- unary: f(scale * x + shift) ----------------------------------------------------------------

Status ImportUnary(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  const std::string_view type = p.Enum("type");
  NN_ASSIGN(Value * x, ctx.Float(0));
  if (const float scale = p.FloatOr("scale", 1); scale != 1) {
    NN_ASSIGN(x, ctx.Add("mul", {x, ctx.Scalar(scale)}));
  }
  float shift = p.Float("shift");
  if (shift != 0) {
    NN_ASSIGN(x, ctx.Add("add", {x, ctx.Scalar(shift)}));
  }
  if (type == "RSQRT" || type == "INVERSE") {
    NN_ASSIGN(x, ctx.Add("add", {x, ctx.Scalar(p.FloatOr("epsilon", 1e-6f))}));
    return ctx.Emit(type == "RSQRT" ? "rsqrt" : "reciprocal", {x});
  }
  if (type == "POWER") return ctx.Emit("pow", {x, ctx.Scalar(p.Float("alpha"))});
  if (type == "THRESHOLD") return ctx.Emit("maximum", {x, ctx.Scalar(p.Float("alpha"))});
  const auto [op, format] = Ops().FindEncoding("coreml", ctx.kind(), 1);
  if (op == nullptr) return ModelError("an unknown function");
  return ctx.Emit(op->name, {x});
}

// ---- Any number of inputs -----------------------------------------------------------------------

// Joins all inputs by an operator of two; with one input the layer's alpha is the other.
Result<Value*> Fold(ImportContext& ctx, std::string_view op, bool has_alpha) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, SIZE_MAX));
  NN_ASSIGN(const std::vector<Value*> inputs, ctx.Alike());
  Value* y = inputs[0];
  if (inputs.size() == 1 && has_alpha) {
    NN_ASSIGN(y, ctx.AsFloat(y));
    return ctx.Add(op, {y, ctx.Scalar(ctx.params().Float("alpha"))});
  }
  for (size_t i = 1; i < inputs.size(); ++i) {
    NN_ASSIGN(y, ctx.Add(op, {y, inputs[i]}));
  }
  return y;
}

template <const char* kOp, bool has_alpha>
Status ImportFold(ImportContext& ctx) {
  NN_ASSIGN(Value* const y, Fold(ctx, kOp, has_alpha));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportAverage(ImportContext& ctx) {
  NN_ASSIGN(Value * sum, Fold(ctx, "add", false));
  NN_ASSIGN(sum, ctx.AsFloat(sum));
  return ctx.Emit("div", {sum, ctx.Scalar(static_cast<float>(ctx.input_count()))});
}

// ---- Comparisons, logic, selection --------------------------------------------------------------

template <const char* kOp>
Status ImportCompare(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  if (ctx.input_count() == 2) {
    NN_ASSIGN(std::vector<Value*> inputs, ctx.Alike());
    return ctx.Emit(kOp, std::move(inputs));
  }
  NN_ASSIGN(Value* const x, ctx.Float(0));
  return ctx.Emit(kOp, {x, ctx.Scalar(ctx.params().Float("alpha"))});
}

template <const char* kOp, size_t kInputs>
Status ImportLogic(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(kInputs, kInputs));
  std::vector<Value*> inputs;
  for (size_t i = 0; i < kInputs; ++i) {
    NN_ASSIGN(Value* const v, ctx.Bool(i));
    inputs.push_back(v);
  }
  return ctx.Emit(kOp, std::move(inputs));
}

Status ImportWhere(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(3, 3));
  NN_ASSIGN(Value* const condition, ctx.Bool(0));
  NN_ASSIGN(Value * a, ctx.Any(1));
  NN_ASSIGN(Value * b, ctx.Any(2));
  if (a->dtype() != b->dtype()) {
    NN_ASSIGN(a, ctx.AsFloat(a));
    NN_ASSIGN(b, ctx.AsFloat(b));
  }
  return ctx.Emit("select", {condition, a, b});
}

// ---- scale, bias --------------------------------------------------------------------------------

// Weights of shape [C, H, W], [1, H, W], [C] or [1] as something that broadcasts to the input.
Result<Value*> Broadcast(ImportContext& ctx, const Value* x, std::string_view weights,
                         std::string_view shape) {
  std::vector<int64_t> dims = ctx.params().Ints(shape);
  if (dims.size() != 1 && dims.size() != 3)
    return ModelError("{} has {} entries, not 1 or 3", shape, dims.size());
  NN_ASSIGN(Value* const w, ctx.Weights(weights, dims));
  if (dims.size() == 3 || x->type().rank() < 3) return w;
  NN_ASSIGN(Tensor tensor, w->constant().Reshaped({dims[0], 1, 1}));
  return ctx.Constant(std::move(tensor));
}

Status ImportScale(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(Value* const scale, Broadcast(ctx, x, "scale", "shapeScale"));
  if (!ctx.params().Bool("hasBias")) return ctx.Emit("mul", {x, scale});
  NN_ASSIGN(Value* const y, ctx.Add("mul", {x, scale}));
  NN_ASSIGN(Value* const bias, Broadcast(ctx, x, "bias", "shapeBias"));
  return ctx.Emit("add", {y, bias});
}

Status ImportBias(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Float(0));
  NN_ASSIGN(Value* const bias, Broadcast(ctx, x, "bias", "shape"));
  return ctx.Emit("add", {x, bias});
}

// The blob's name is another name of the value.
Status ImportCopy(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  NN_ASSIGN(Value* const x, ctx.Any(0));
  ctx.SetOutput(0, x);
  return {};
}

constexpr char kAdd[] = "add", kMul[] = "mul", kMax[] = "maximum", kMin[] = "minimum",
               kEqual[] = "equal", kNotEqual[] = "not_equal", kLess[] = "less",
               kLessEqual[] = "less_equal", kGreater[] = "greater",
               kGreaterEqual[] = "greater_equal", kAnd[] = "and", kOr[] = "or", kXor[] = "xor",
               kNot[] = "not";

}  // namespace

void AddElementwiseImports(ImportTable& t) {
  t["activation.linear"] = ImportLinear;
  t["activation.thresholdedReLU"] = ImportThresholdedRelu;
  t["activation.PReLU"] = ImportPrelu;
  t["activation.scaledTanh"] = ImportScaledTanh;
  t["activation.parametricSoftplus"] = ImportParametricSoftplus;
  t["clampedReLU"] = ImportClampedRelu;
  t["gelu"] = ImportGelu;
  t["unary"] = ImportUnary;
  t["add"] = ImportFold<kAdd, true>;
  t["multiply"] = ImportFold<kMul, true>;
  t["max"] = ImportFold<kMax, false>;
  t["min"] = ImportFold<kMin, false>;
  t["average"] = ImportAverage;
  t["equal"] = ImportCompare<kEqual>;
  t["notEqual"] = ImportCompare<kNotEqual>;
  t["lessThan"] = ImportCompare<kLess>;
  t["lessEqual"] = ImportCompare<kLessEqual>;
  t["greaterThan"] = ImportCompare<kGreater>;
  t["greaterEqual"] = ImportCompare<kGreaterEqual>;
  t["logicalAnd"] = ImportLogic<kAnd, 2>;
  t["logicalOr"] = ImportLogic<kOr, 2>;
  t["logicalXor"] = ImportLogic<kXor, 2>;
  t["logicalNot"] = ImportLogic<kNot, 1>;
  t["whereBroadcastable"] = ImportWhere;
  t["scale"] = ImportScale;
  t["bias"] = ImportBias;
  t["copy"] = ImportCopy;
}

}  // namespace nn::coreml
