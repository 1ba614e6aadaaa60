#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

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

// Values below alpha become 0.
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

// A parameter of an activation, a scalar or one per channel, shaped to broadcast to the input.
Result<Value*> ChannelWise(ImportContext& ctx, Value* x, std::string_view field) {
  const Fields weights = Activation(ctx).Sub(field);
  const auto count = static_cast<int64_t>(WeightCount(weights));
  if (count != 1 && x->type().rank() < 3)
    return ModelError("{} channels for an input of rank {}", count, x->type().rank());
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
  if (const float epsilon = p.Float("epsilon"); type == "LOG" && epsilon != 0) {
    NN_ASSIGN(x, ctx.Add("add", {x, ctx.Scalar(epsilon)}));
  }
  if (type == "POWER") return ctx.Emit("pow", {x, ctx.Scalar(p.Float("alpha"))});
  if (type == "THRESHOLD") return ctx.Emit("maximum", {x, ctx.Scalar(p.Float("alpha"))});
  const auto [op, format] = Ops().FindEncoding("coreml", ctx.kind(), 1);
  if (op == nullptr) return ModelError("an unknown function");
  return ctx.Emit(op->name, {x});
}

// ---- Any number of inputs -----------------------------------------------------------------------

// Folds all inputs with a binary operator; with one input, the second operand is the layer's alpha.
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

// Weights of shape [C, H, W], [1, H, W], [C] or [1], shaped to broadcast to the input.
Result<Value*> Broadcast(ImportContext& ctx, const Value* x, std::string_view weights,
                         std::string_view shape) {
  std::vector<int64_t> dims = ctx.params().Ints(shape);
  if (dims.size() != 1 && dims.size() != 3)
    return ModelError("{} has {} entries; expected 1 or 3", shape, dims.size());
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

// ==== To Core ML =================================================================================

namespace {

Status WriteNeg(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "multiply").Float("alpha", -1);
  return {};
}

Status WriteGelu(ExportContext& ctx, const Node& node) {
  Writer p = ctx.AddLayer(node, "gelu");
  switch (node.attrs<GeluAttrs>().approximate) {
    case GeluApproximation::kNone:
      p.Enum("mode", "EXACT");
      break;
    case GeluApproximation::kTanh:
      p.Enum("mode", "TANH_APPROXIMATION");
      break;
    case GeluApproximation::kSigmoid:
      p.Enum("mode", "SIGMOID_APPROXIMATION");
      break;
  }
  return {};
}

// ---- prelu: a constant with one slope, or one a channel -----------------------------------------

bool IsChannelWise(const Node& node) {
  const Tensor* slope = ConstantOf(node, 1);
  if (slope == nullptr) return false;
  if (slope->elements() == 1) return true;
  const int axis = slope->rank() - 3;  // the channels
  return axis >= 0 && slope->dim(axis) == slope->elements();
}

Status WritePrelu(ExportContext& ctx, const Node& node) {
  WriteWeights(ctx.AddLayer(node, "activation", 1).Sub("PReLU").Sub("alpha"), *ConstantOf(node, 1));
  return {};
}

std::optional<std::string> WhyNotPrelu(const Node& node) {
  if (IsChannelWise(node)) return std::nullopt;
  return "prelu needs one constant slope, or one per channel";
}

// ---- Types --------------------------------------------------------------------------------------

// All values are floats; only casts to bool need a layer.
Status WriteCast(ExportContext& ctx, const Node& node) {
  if (node.output()->dtype() == DType::kBool && node.input(0)->dtype() != DType::kBool)
    ctx.AddLayer(node, "notEqual").Float("alpha", 0);
  else
    ctx.Alias(node, node.output(), node.input(0));
  return {};
}

// Whether all finite elements of v are whole numbers, as far as its operators tell: those that
// round, and those that map whole numbers to whole numbers. Sums and products round to whole
// numbers, too.
bool IsWhole(const Value* v) {
  static constexpr std::string_view kRounds[] = {"ceil", "floor", "round", "sign"};
  static constexpr std::string_view kKeeps[] = {"abs", "add", "maximum", "minimum",
                                                "mul", "neg", "sub"};
  std::vector<const Value*> open = {v};
  for (size_t i = 0; i < open.size(); ++i) {
    constexpr size_t kMaxValues = 256;
    if (i == kMaxValues) return false;
    const Node* def = open[i]->def();
    if (open[i]->dtype() != DType::kF32) continue;
    if (open[i]->is_constant()) {
      const Tensor& t = open[i]->constant();
      for (int64_t k = 0; k < t.elements(); ++k)
        if (t.GetDouble(k) != std::trunc(t.GetDouble(k))) return false;
      continue;
    }
    if (def == nullptr) return false;
    if (std::ranges::find(kRounds, def->op_name()) != std::end(kRounds) || def->Is("cast"))
      continue;
    const bool clips = def->Is("clip") && def->inputs().size() == 1 &&
                       def->attrs<ClipAttrs>().min == std::trunc(def->attrs<ClipAttrs>().min) &&
                       def->attrs<ClipAttrs>().max == std::trunc(def->attrs<ClipAttrs>().max);
    if (!clips && def->op().movement == Movement::kNone && !def->Is("select") &&
        std::ranges::find(kKeeps, def->op_name()) == std::end(kKeeps))
      return false;
    for (const Value* x : def->inputs())
      if (x != nullptr && std::ranges::find(open, x) == open.end()) open.push_back(x);
  }
  return true;
}

std::optional<std::string> WhyNotCast(const Node& node) {
  const DType from = node.input(0)->dtype(), to = node.output()->dtype();
  if (from == DType::kF32 && (to == DType::kI32 || to == DType::kI64) && !IsWhole(node.input(0)))
    return fmt::format("Core ML has no cast from f32 to {}", DTypeName(to));
  return std::nullopt;
}

std::optional<std::string> WhyNotClip(const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (std::isnan(a.min) || std::isnan(a.max)) return "its bounds cannot be NaN";
  return std::nullopt;
}

// ---- Comparisons and logic ----------------------------------------------------------------------

template <const char* kKind>
Status WriteAs(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, kKind);
  return {};
}

constexpr char kEqualLayer[] = "equal", kNotEqualLayer[] = "notEqual", kLessLayer[] = "lessThan",
               kLessEqualLayer[] = "lessEqual", kGreaterLayer[] = "greaterThan",
               kGreaterEqualLayer[] = "greaterEqual", kAndLayer[] = "logicalAnd",
               kOrLayer[] = "logicalOr", kXorLayer[] = "logicalXor", kNotLayer[] = "logicalNot",
               kWhereLayer[] = "whereBroadcastable";

}  // namespace

namespace {

constexpr ImportRow kElementwiseImports[] = {
    {.layer = "activation.linear", .import = ImportLinear},
    {.layer = "activation.thresholdedReLU", .import = ImportThresholdedRelu},
    {.layer = "activation.PReLU", .import = ImportPrelu},
    {.layer = "activation.scaledTanh", .import = ImportScaledTanh},
    {.layer = "activation.parametricSoftplus", .import = ImportParametricSoftplus},
    {.layer = "clampedReLU", .import = ImportClampedRelu},
    {.layer = "gelu", .import = ImportGelu},
    {.layer = "unary", .import = ImportUnary},
    {.layer = "add", .import = ImportFold<kAdd, true>},
    {.layer = "multiply", .import = ImportFold<kMul, true>},
    {.layer = "max", .import = ImportFold<kMax, false>},
    {.layer = "min", .import = ImportFold<kMin, false>},
    {.layer = "average", .import = ImportAverage},
    {.layer = "equal", .import = ImportCompare<kEqual>},
    {.layer = "notEqual", .import = ImportCompare<kNotEqual>},
    {.layer = "lessThan", .import = ImportCompare<kLess>},
    {.layer = "lessEqual", .import = ImportCompare<kLessEqual>},
    {.layer = "greaterThan", .import = ImportCompare<kGreater>},
    {.layer = "greaterEqual", .import = ImportCompare<kGreaterEqual>},
    {.layer = "logicalAnd", .import = ImportLogic<kAnd, 2>},
    {.layer = "logicalOr", .import = ImportLogic<kOr, 2>},
    {.layer = "logicalXor", .import = ImportLogic<kXor, 2>},
    {.layer = "logicalNot", .import = ImportLogic<kNot, 1>},
    {.layer = "whereBroadcastable", .import = ImportWhere},
    {.layer = "scale", .import = ImportScale},
    {.layer = "bias", .import = ImportBias},
    {.layer = "copy", .import = ImportCopy},
};

constexpr ExportRow kElementwiseExports[] = {
    {.op = "neg", .write = WriteNeg},
    {.op = "gelu", .write = WriteGelu},
    {.op = "clip", .why_not = WhyNotClip},
    {.op = "prelu", .write = WritePrelu, .why_not = WhyNotPrelu},
    {.op = "cast", .write = WriteCast, .why_not = WhyNotCast, .types = Types::kAny},
    {.op = "equal", .write = WriteAs<kEqualLayer>, .types = Types::kAny},
    {.op = "not_equal", .write = WriteAs<kNotEqualLayer>, .types = Types::kAny},
    {.op = "less", .write = WriteAs<kLessLayer>, .types = Types::kAny},
    {.op = "less_equal", .write = WriteAs<kLessEqualLayer>, .types = Types::kAny},
    {.op = "greater", .write = WriteAs<kGreaterLayer>, .types = Types::kAny},
    {.op = "greater_equal", .write = WriteAs<kGreaterEqualLayer>, .types = Types::kAny},
    {.op = "and", .write = WriteAs<kAndLayer>, .types = Types::kAny},
    {.op = "or", .write = WriteAs<kOrLayer>, .types = Types::kAny},
    {.op = "xor", .write = WriteAs<kXorLayer>, .types = Types::kAny},
    {.op = "not", .write = WriteAs<kNotLayer>, .types = Types::kAny},
    {.op = "select", .write = WriteAs<kWhereLayer>, .types = Types::kAny},
};

}  // namespace

Family ElementwiseFamily() {
  return {.imports = kElementwiseImports, .exports = kElementwiseExports};
}

}  // namespace nn::coreml
