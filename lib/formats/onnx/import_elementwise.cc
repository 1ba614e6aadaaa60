#include <limits>

#include "formats/onnx/import.h"
#include "formats/onnx/tensor.h"
#include "ops/elementwise.h"
#include "ops/shape.h"

namespace nn::onnx {
namespace {

// ---- Clip

// Before operator set 11 the bounds are attributes.
Status ImportClip6(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  ClipAttrs a;
  a.min = ctx.Float("min", std::numeric_limits<float>::lowest());
  a.max = ctx.Float("max", std::numeric_limits<float>::max());
  return ctx.Emit("clip", {x}, a);
}

// Bounds that a float holds become attributes.
Status ImportClip11(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const Tensor* low = ctx.Constant(1);
  const Tensor* high = ctx.Constant(2);
  for (const Tensor* bound : {low, high})
    if (bound != nullptr && bound->elements() != 1)
      return ModelError("a bound has {} elements", bound->elements());
  const bool constant =
      (ctx.input(1) == nullptr || low != nullptr) && (ctx.input(2) == nullptr || high != nullptr);
  const DType t = x->dtype();
  if (constant && (t == DType::kF32 || t == DType::kF16 || t == DType::kBF16)) {
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

// ---- Any number of operands

// The operands folded from the left.
Result<Value*> Folded(ImportContext& ctx, std::string_view op) {
  NN_ASSIGN(Value * y, ctx.Required(0));
  for (size_t i = 1; i < ctx.input_count(); ++i) {
    NN_ASSIGN(Value* const x, ctx.Required(i));
    NN_ASSIGN(y, ctx.Add(op, {y, x}));
  }
  return y;
}

Status ImportVariadic(ImportContext& ctx) {
  const std::string& op = ctx.node().op_type();
  NN_ASSIGN(Value* const y, Folded(ctx, op == "Min" ? "minimum" : op == "Max" ? "maximum" : "add"));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportMean(ImportContext& ctx) {
  NN_ASSIGN(Value* const sum, Folded(ctx, "add"));
  if (ctx.input_count() == 1) {
    ctx.SetOutput(0, sum);
    return {};
  }
  NN_ASSIGN(TensorBuilder count, TensorBuilder::Create(sum->dtype(), {}));
  count.SetDouble(0, static_cast<double>(ctx.input_count()));
  return ctx.Emit("div", {sum, ctx.Constant(count.Finish())});
}

// ---- Two operands

// Before operator set 7 an operand is broadcast only when it is said to be: its axes are those of
// the other from `axis` on, or the last ones.
Status ImportBinary1(ImportContext& ctx) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"Add", "add"}, {"Sub", "sub"},     {"Mul", "mul"},   {"Div", "div"},
      {"Pow", "pow"}, {"Equal", "equal"}, {"Less", "less"}, {"Greater", "greater"},
      {"And", "and"}, {"Or", "or"},       {"Xor", "xor"}};
  NN_ASSIGN(Value* const a, ctx.Required(0));
  NN_ASSIGN(Value * b, ctx.Required(1));
  if (ctx.Int("broadcast", 0) != 0 && ctx.HasAttr("axis")) {
    if (!a->type().ranked() || !b->type().ranked())
      return UnsupportedError("{} along an axis of a tensor of unknown rank", ctx.node().op_type());
    int64_t axis = ctx.Int("axis", 0);
    if (axis < 0) axis += a->type().rank();
    const int64_t missing = a->type().rank() - axis - b->type().rank();
    if (axis < 0 || missing < 0)
      return ModelError("operands {} and {} along axis {}", a->type().ToString(),
                        b->type().ToString(), axis);
    Dims dims = *b->type().dims;
    dims.insert(dims.end(), static_cast<size_t>(missing), Dim(1));
    if (missing > 0) {
      NN_ASSIGN(b, ctx.Add("reshape", {b}, ReshapeAttrs{std::move(dims), false}));
    }
  }
  for (const auto& [theirs, ours] : kNames)
    if (theirs == ctx.node().op_type()) return ctx.Emit(ours, {a, b});
  return InternalError("{} is not in the table", ctx.node().op_type());
}

Status ImportMod(ImportContext& ctx) {
  NN_ASSIGN(Value* const a, ctx.Required(0));
  NN_ASSIGN(Value* const b, ctx.Required(1));
  const bool fmod = ctx.Int("fmod", 0) != 0;
  if (!fmod && IsFloat(a->dtype())) return ModelError("{} without fmod", DTypeName(a->dtype()));
  return ctx.Emit(fmod ? "fmod" : "mod", {a, b});
}

Status ImportBitShift(ImportContext& ctx) {
  NN_ASSIGN(Value* const a, ctx.Required(0));
  NN_ASSIGN(Value* const b, ctx.Required(1));
  const std::string direction = ctx.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return ModelError("direction must be LEFT or RIGHT");
  return ctx.Emit(direction == "LEFT" ? "shift_left" : "shift_right", {a, b});
}

// ---- Cast

Status EmitCast(ImportContext& ctx, DType to) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (to == DType::kUnknown) return ModelError("the element type is unknown");
  CastAttrs a;
  a.to = to;
  a.saturate = ctx.Int("saturate", 1) != 0;
  const std::string round = ctx.String("round_mode", "up");
  const auto mode = ParseEnum<PowerRounding>(round);
  if (!mode) return ModelError("round_mode is none of up, down and nearest");
  a.round_mode = *mode;
  return ctx.Emit("cast", {x}, a);
}

// In version 1 the type is named.
Status ImportCast1(ImportContext& ctx) {
  pb::TensorProto::DataType type = pb::TensorProto::UNDEFINED;
  if (!pb::TensorProto::DataType_Parse(ctx.String("to", ""), &type))
    return ModelError("attribute to names no element type");
  return EmitCast(ctx, DTypeOf(type));
}
Status ImportCast6(ImportContext& ctx) {
  NN_ASSIGN(const int64_t to, ctx.RequiredInt("to"));
  return EmitCast(ctx, DTypeOf(static_cast<int>(to)));
}
Status ImportCastLike(ImportContext& ctx) {
  NN_ASSIGN(Value* const like, ctx.Required(1));
  return EmitCast(ctx, like->dtype());
}

// ---- One operand

// Version 1 has other defaults than version 6.
Status ImportSelu1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("selu", {x}, SeluAttrs{ctx.Float("alpha", 1.6732f), ctx.Float("gamma", 1.0507f)});
}

// x * sigmoid(alpha * x)
Status ImportSwish(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const float alpha = ctx.Float("alpha", 1.0f);
  if (!IsFloat(x->dtype())) return ModelError("Swish of {}", DTypeName(x->dtype()));
  if (alpha == 1.0f) return ctx.Emit("silu", {x});
  NN_ASSIGN(TensorBuilder scale, TensorBuilder::Create(x->dtype(), {}));
  scale.SetDouble(0, static_cast<double>(alpha));
  NN_ASSIGN(Value* const scaled, ctx.Add("mul", {x, ctx.Constant(scale.Finish())}));
  NN_ASSIGN(Value* const gate, ctx.Add("sigmoid", {scaled}));
  return ctx.Emit("mul", {x, gate});
}

}  // namespace

void AddElementwiseImports(ImportTable& t) {
  t.Add("", "Clip", 1, ImportClip6);
  t.Add("", "Clip", 11, ImportClip11);
  for (const std::string_view op : {"Min", "Max", "Sum"}) t.Add("", op, 1, ImportVariadic);
  t.Add("", "Mean", 1, ImportMean);
  for (const std::string_view op :
       {"Add", "Sub", "Mul", "Div", "Pow", "Equal", "Less", "Greater", "And", "Or", "Xor"}) {
    t.Add("", op, 1, ImportBinary1);
    t.Add("", op, 7, nullptr);
  }
  t.Add("", "Mod", 10, ImportMod);
  t.Add("", "BitShift", 11, ImportBitShift);
  t.Add("", "Cast", 1, ImportCast1);
  t.Add("", "Cast", 6, ImportCast6);
  t.Add("", "CastLike", 15, ImportCastLike);
  t.Add("", "Selu", 1, ImportSelu1);
  t.Add("", "Selu", 6, nullptr);
  t.Add("", "Swish", 24, ImportSwish);
}

}  // namespace nn::onnx
