#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// ---- Activations that are not one-to-one --------------------------------------------------------

Fields Activation(const ImportContext& ctx) {
  return ctx.params().Sub(ctx.params().OneOf("NonlinearityType"));
}

Status ImportLinear(ImportContext& ctx) {
  Term y = ctx.input(0);
  const Fields p = Activation(ctx);
  if (p.Float("alpha") != 1) y = y * p.Float("alpha");
  if (p.Float("beta") != 0) y = y + p.Float("beta");
  return ctx.EmitTerm(y);
}

// Values below alpha become 0.
Status ImportThresholdedRelu(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.EmitTerm(Select(Less(x, Activation(ctx).Float("alpha")), 0, x));
}

Status ImportScaledTanh(ImportContext& ctx) {
  const Term x = ctx.input(0);
  const Fields p = Activation(ctx);
  return ctx.EmitTerm(Apply("tanh", {x * p.Float("beta")}) * p.Float("alpha"));
}

// A parameter of an activation, a scalar or one per channel, shaped to broadcast to the input.
Result<Tensor> ChannelWise(const ImportContext& ctx, const Value* x, std::string_view field) {
  const Fields weights = Activation(ctx).Sub(field);
  const auto count = static_cast<int64_t>(WeightCount(weights));
  if (count != 1 && x->type().rank() < 3)
    return ModelError("{} channels for an input of rank {}", count, x->type().rank());
  std::vector<int64_t> dims = {count, 1, 1};
  if (count == 1) dims.assign(static_cast<size_t>(std::min(x->type().rank(), 3)), 1);
  return ReadWeights(weights, std::move(dims));
}

Status ImportPrelu(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Term slope, ChannelWise(ctx, x, "alpha"));
  return ctx.Emit("prelu", {x, slope});
}

Status ImportParametricSoftplus(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Term alpha, ChannelWise(ctx, x, "alpha"));
  NN_ASSIGN(const Term beta, ChannelWise(ctx, x, "beta"));
  return ctx.EmitTerm(Apply("softplus", {x * beta}) * alpha);
}

Status ImportClampedRelu(ImportContext& ctx) {
  const Term y = Apply("leaky_relu", {ctx.input(0)}, LeakyReluAttrs{ctx.params().Float("alpha")});
  ClipAttrs clip;
  clip.max = ctx.params().Float("beta");
  return ctx.Emit("clip", {y}, clip);
}

Status ImportGelu(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const std::string_view mode = ctx.params().Enum("mode");
  GeluAttrs a;
  if (mode == "TANH_APPROXIMATION") a.approximate = GeluApproximation::kTanh;
  if (mode == "SIGMOID_APPROXIMATION") a.approximate = GeluApproximation::kSigmoid;
  return ctx.Emit("gelu", {x}, a);
}

// ---- unary: f(scale * x + shift) ----------------------------------------------------------------

Status ImportUnary(ImportContext& ctx) {
  const Fields& p = ctx.params();
  const std::string_view type = p.Enum("type");
  Term x = ctx.input(0);
  if (const float scale = p.FloatOr("scale", 1); scale != 1) x = x * scale;
  if (const float shift = p.Float("shift"); shift != 0) x = x + shift;
  if (type == "RSQRT" || type == "INVERSE")
    return ctx.Emit(type == "RSQRT" ? "rsqrt" : "reciprocal", {x + p.FloatOr("epsilon", 1e-6f)});
  if (const float epsilon = p.Float("epsilon"); type == "LOG" && epsilon != 0) x = x + epsilon;
  if (type == "POWER") return ctx.Emit("pow", {x, p.Float("alpha")});
  if (type == "THRESHOLD") return ctx.EmitTerm(Maximum(x, p.Float("alpha")));
  const auto [op, format] = Ops().FindEncoding("coreml", ctx.kind(), 1);
  if (op == nullptr) return ModelError("an unknown function");
  return ctx.Emit(op->name, {x});
}

// ---- Any number of inputs -----------------------------------------------------------------------

// Folds all inputs with a binary operator.
Result<Value*> Fold(ImportContext& ctx, std::string_view op) {
  Value* y = ctx.input(0);
  for (size_t i = 1; i < ctx.input_count(); ++i) {
    NN_ASSIGN(y, ctx.Add(op, {y, ctx.input(i)}));
  }
  return y;
}

// With one input, the second operand is the layer's alpha.
template <const char* kOp, bool has_alpha>
Status ImportFold(ImportContext& ctx) {
  const bool one = ctx.input_count() == 1 && has_alpha;
  NN_ASSIGN(Value* const y, one ? ctx.AsFloat(ctx.input(0)) : Fold(ctx, kOp));
  return one ? ctx.Emit(kOp, {y, ctx.params().Float("alpha")}) : ctx.EmitTerm(y);
}

Status ImportAverage(ImportContext& ctx) {
  NN_ASSIGN(Value * sum, Fold(ctx, "add"));
  NN_ASSIGN(sum, ctx.AsFloat(sum));
  return ctx.EmitTerm(Term(sum) / ctx.input_count());
}

// ---- Comparisons, logic, selection --------------------------------------------------------------

template <const char* kOp>
Status ImportCompare(ImportContext& ctx) {
  if (ctx.input_count() == 2) {
    NN_ASSIGN(const std::vector<Value*> inputs, ctx.Alike());
    return ctx.Emit(kOp, inputs);
  }
  NN_ASSIGN(Value* const x, ctx.Float(0));
  return ctx.Emit(kOp, {x, ctx.params().Float("alpha")});
}

template <const char* kOp>
Status ImportLogic(ImportContext& ctx) {
  return ctx.Emit(kOp, ctx.inputs());
}

Status ImportWhere(ImportContext& ctx) {
  Value *a = ctx.input(1), *b = ctx.input(2);
  if (a->dtype() != b->dtype()) {
    NN_ASSIGN(a, ctx.AsFloat(a));
    NN_ASSIGN(b, ctx.AsFloat(b));
  }
  return ctx.EmitTerm(Select(ctx.input(0), a, b));
}

// ---- scale, bias --------------------------------------------------------------------------------

// Weights of shape [C, H, W], [1, H, W], [C] or [1], shaped to broadcast to the input.
Result<Term> Broadcast(ImportContext& ctx, const Value* x, std::string_view weights,
                       std::string_view shape) {
  std::vector<int64_t> dims = ctx.params().Ints(shape);
  if (dims.size() != 1 && dims.size() != 3)
    return ModelError("{} has {} entries; expected 1 or 3", shape, dims.size());
  NN_ASSIGN(Value* const w, ctx.Weights(weights, dims));
  if (dims.size() == 3 || x->type().rank() < 3) return w;
  NN_ASSIGN(Tensor tensor, w->constant().Reshaped({dims[0], 1, 1}));
  return Term(std::move(tensor));
}

Status ImportScale(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Term scale, Broadcast(ctx, x, "scale", "shapeScale"));
  if (!ctx.params().Bool("hasBias")) return ctx.EmitTerm(x * scale);
  NN_ASSIGN(const Term bias, Broadcast(ctx, x, "bias", "shapeBias"));
  return ctx.EmitTerm(x * scale + bias);
}

Status ImportBias(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Term bias, Broadcast(ctx, x, "bias", "shape"));
  return ctx.EmitTerm(x + bias);
}

// The blob's name is another name of the value.
Status ImportCopy(ImportContext& ctx) {
  return ctx.EmitTerm(ctx.input(0));
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
    if (std::ranges::find(kRounds, def->op_name()) != std::end(kRounds) || def->Is<CastAttrs>())
      continue;
    const bool clips = def->Is<ClipAttrs>() && def->inputs().size() == 1 &&
                       def->attrs<ClipAttrs>().min == std::trunc(def->attrs<ClipAttrs>().min) &&
                       def->attrs<ClipAttrs>().max == std::trunc(def->attrs<ClipAttrs>().max);
    if (!clips && !SelectionOf(*def) &&
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
    {.layer = "activation.linear", .import = ImportLinear, .inputs = "f"},
    {.layer = "activation.thresholdedReLU", .import = ImportThresholdedRelu, .inputs = "f"},
    {.layer = "activation.PReLU", .import = ImportPrelu, .inputs = "f"},
    {.layer = "activation.scaledTanh", .import = ImportScaledTanh, .inputs = "f"},
    {.layer = "activation.parametricSoftplus", .import = ImportParametricSoftplus, .inputs = "f"},
    {.layer = "clampedReLU", .import = ImportClampedRelu, .inputs = "f"},
    {.layer = "gelu", .import = ImportGelu, .inputs = "f"},
    {.layer = "unary", .import = ImportUnary, .inputs = "f"},
    {.layer = "add", .import = ImportFold<kAdd, true>, .inputs = "+"},
    {.layer = "multiply", .import = ImportFold<kMul, true>, .inputs = "+"},
    {.layer = "max", .import = ImportFold<kMax, false>, .inputs = "+"},
    {.layer = "min", .import = ImportFold<kMin, false>, .inputs = "+"},
    {.layer = "average", .import = ImportAverage, .inputs = "+"},
    {.layer = "equal", .import = ImportCompare<kEqual>, .inputs = "a?a"},
    {.layer = "notEqual", .import = ImportCompare<kNotEqual>, .inputs = "a?a"},
    {.layer = "lessThan", .import = ImportCompare<kLess>, .inputs = "a?a"},
    {.layer = "lessEqual", .import = ImportCompare<kLessEqual>, .inputs = "a?a"},
    {.layer = "greaterThan", .import = ImportCompare<kGreater>, .inputs = "a?a"},
    {.layer = "greaterEqual", .import = ImportCompare<kGreaterEqual>, .inputs = "a?a"},
    {.layer = "logicalAnd", .import = ImportLogic<kAnd>, .inputs = "bb"},
    {.layer = "logicalOr", .import = ImportLogic<kOr>, .inputs = "bb"},
    {.layer = "logicalXor", .import = ImportLogic<kXor>, .inputs = "bb"},
    {.layer = "logicalNot", .import = ImportLogic<kNot>, .inputs = "b"},
    {.layer = "whereBroadcastable", .import = ImportWhere, .inputs = "baa"},
    {.layer = "scale", .import = ImportScale, .inputs = "f"},
    {.layer = "bias", .import = ImportBias, .inputs = "f"},
    {.layer = "copy", .import = ImportCopy, .inputs = "a"},
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
