// One-to-one operators take their names from OpDef::formats. This file has the element types that
// each ONNX version supports for them, and the operators that lower to several ONNX operators.
#include <array>
#include <cmath>
#include <limits>

#include "formats/onnx/family.h"
#include "formats/onnx/tensor.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

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

// Constant bounds that fit in a float become attributes.
Status ImportClip11(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const Tensor* low = ctx.Constant(1);
  const Tensor* high = ctx.Constant(2);
  for (const Tensor* bound : {low, high})
    if (bound != nullptr && bound->elements() != 1)
      return ModelError("min and max must have 1 element; one has {}", bound->elements());
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

// Before operator set 7, the second operand is broadcast only with attribute broadcast = 1: its
// axes match those of the first from `axis` on, or the last ones.
Status ImportBinary1(ImportContext& ctx) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"Add", "add"}, {"Sub", "sub"},     {"Mul", "mul"},   {"Div", "div"},
      {"Pow", "pow"}, {"Equal", "equal"}, {"Less", "less"}, {"Greater", "greater"},
      {"And", "and"}, {"Or", "or"},       {"Xor", "xor"}};
  NN_ASSIGN(Value* const a, ctx.Required(0));
  NN_ASSIGN(Value * b, ctx.Required(1));
  if (ctx.Int("broadcast", 0) != 0 && ctx.HasAttr("axis")) {
    if (!a->type().ranked() || !b->type().ranked())
      return UnsupportedError("{} with attribute axis needs operands of known rank",
                              ctx.node().op_type());
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
  return InternalError("{} has no row in the table", ctx.node().op_type());
}

Status ImportMod(ImportContext& ctx) {
  NN_ASSIGN(Value* const a, ctx.Required(0));
  NN_ASSIGN(Value* const b, ctx.Required(1));
  const bool fmod = ctx.Int("fmod", 0) != 0;
  if (!fmod && IsFloat(a->dtype()))
    return ModelError("{} operands need fmod = 1", DTypeName(a->dtype()));
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
  if (to == DType::kUnknown) return ModelError("attribute to is not a known element type");
  CastAttrs a;
  a.to = to;
  a.saturate = ctx.Int("saturate", 1) != 0;
  const std::string round = ctx.String("round_mode", "up");
  const auto mode = ParseEnum<PowerRounding>(round);
  if (!mode) return ModelError("round_mode must be up, down or nearest");
  a.round_mode = *mode;
  return ctx.Emit("cast", {x}, a);
}

// In version 1 the type is given by name.
Status ImportCast1(ImportContext& ctx) {
  pb::TensorProto::DataType type = pb::TensorProto::UNDEFINED;
  if (!pb::TensorProto::DataType_Parse(ctx.String("to", ""), &type))
    return ModelError("attribute to is not the name of an element type");
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
  if (!IsFloat(x->dtype()))
    return ModelError("Swish needs a floating-point input, not {}", DTypeName(x->dtype()));
  if (alpha == 1.0f) return ctx.Emit("silu", {x});
  NN_ASSIGN(TensorBuilder scale, TensorBuilder::Create(x->dtype(), {}));
  scale.SetDouble(0, static_cast<double>(alpha));
  NN_ASSIGN(Value* const scaled, ctx.Add("mul", {x, ctx.Constant(scale.Finish())}));
  NN_ASSIGN(Value* const gate, ctx.Add("sigmoid", {scaled}));
  return ctx.Emit("mul", {x, gate});
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

// ---- Element types

constexpr int64_t kNever = 1 << 20;

// The first operator set in which an operator supports a type.
struct TypeRow {
  std::string_view op;
  int64_t real = 1;         // f16, f32, f64
  int64_t wide = kNever;    // integers of 32 and 64 bits
  int64_t narrow = kNever;  // integers of 8 and 16 bits
  int64_t boolean = kNever;
  int64_t bf16 = 13;
};

// Operators not listed support floating-point types, and bf16 from 22 on.
constexpr TypeRow kTypes[] = {
    {"abs", 6, 6, 6},
    {"neg", 6, 6, 6},
    {"sign", 9, 9, 9},
    {"relu", 6, 14, 14},
    {"clip", 6, 12, 12},
    {"exp", 6},
    {"log", 6},
    {"sqrt", 6},
    {"reciprocal", 6},
    {"floor", 6},
    {"ceil", 6},
    {"sigmoid", 6},
    {"tanh", 6},
    {"erf", 9},
    {"leaky_relu", 6, kNever, kNever, kNever, 16},
    {"shrink", 9, 9, 9, kNever, kNever},
    {"add", 7, 7, 14},
    {"sub", 7, 7, 14},
    {"mul", 7, 7, 14},
    {"div", 7, 7, 14},
    {"floor_div", 7, 10, 14},
    {"mod", 10, 10, 10},
    {"fmod", 10, 10, 10},
    {"pow", 7, 12},
    {"minimum", 8, 12},
    {"maximum", 8, 12},
    {"squared_difference", 7, 7, 14},
    {"prelu", 7, 9, kNever, kNever, 16},
    {"equal", 11, 7, 11, 7},
    {"not_equal", 11, 7, 11, 7},
    {"less", 7, 9, 9},
    {"greater", 7, 9, 9},
    {"less_equal", 12, 12, 12, kNever, 16},
    {"greater_equal", 12, 12, 12, kNever, 16},
    {"and", kNever, kNever, kNever, 7},
    {"or", kNever, kNever, kNever, 7},
    {"xor", kNever, kNever, kNever, 7},
    {"not", kNever, kNever, kNever, 1},
    {"bitwise_and", kNever, 18, 18},
    {"bitwise_or", kNever, 18, 18},
    {"bitwise_xor", kNever, 18, 18, 7},
    {"bitwise_not", kNever, 18, 18},
    {"shift_left", kNever, 11, 11},
    {"shift_right", kNever, 11, 11},
    {"is_nan", 9},
    {"is_inf", 10, kNever, kNever, kNever, 20},
};

TypeRow TypesOf(std::string_view op) {
  for (const TypeRow& row : kTypes)
    if (row.op == op) return row;
  TypeRow row{op};
  row.bf16 = 22;
  return row;
}

int64_t OpsetForType(const TypeRow& row, DType t) {
  if (t == DType::kBool) return row.boolean;
  if (t == DType::kBF16) return row.bf16;
  if (t == DType::kString) return row.op == "equal" || row.op == "not_equal" ? 19 : kNever;
  if (IsFloat(t)) return DTypeBits(t) < 16 ? kNever : row.real;
  if (!IsInteger(t) || DTypeBits(t) < 8) return kNever;
  return DTypeBits(t) < 32 ? row.narrow : row.wide;
}

int64_t ElementwiseOpset(const Node& node) {
  const TypeRow row = TypesOf(node.op_name());
  int64_t opset = OpsetForType(row, node.input(0)->dtype());
  if (node.Is("pow") && node.input(1)->dtype() != node.input(0)->dtype())
    opset = std::max<int64_t>(opset, 12);
  if (const FormatName* format = node.op().FindFormat("onnx"))
    opset = std::max<int64_t>(opset, format->since_version);
  return opset;
}

std::optional<std::string> WhyNotElementwise(const Node& node) {
  for (const Value* v : node.inputs())
    if (v->type().quantized())
      return "its operands are quantized; the ONNX operator needs real ones";
  if (node.output()->type().quantized())
    return "its result is quantized; the ONNX operator needs a real one";
  const DType t = node.input(0)->dtype();
  const bool mixed_shift = (node.Is("shift_left") || node.Is("shift_right")) && IsSigned(t);
  if (mixed_shift || OpsetForType(TypesOf(node.op_name()), t) == kNever)
    return fmt::format("ONNX has no {} for {} operands", node.op_name(), DTypeName(t));
  return std::nullopt;
}

// ---- Spelled with several

// Writes expressions; the last operator gets the node's name.
class Speller {
 public:
  Speller(ExportContext& ctx, const Node& node)
      : ctx_(ctx), node_(node), dtype_(node.input(0)->dtype()) {}

  std::string In(size_t i = 0) { return ctx_.NameOf(node_.input(i)); }
  // A scalar of the operands' type.
  std::string Number(double v) {
    auto b = TensorBuilder::Create(dtype_, {});  // one element cannot fail
    b->SetDouble(0, v);
    return ctx_.AddTensor(b->Finish(), "number");
  }
  std::string Do(std::string_view op, std::vector<std::string> inputs) {
    return ctx_.AddValue(op, std::move(inputs), node_.output()->name());
  }
  Status Finish(std::string_view op, std::vector<std::string> inputs) {
    ctx_.AddNode(node_, op, std::move(inputs), {ctx_.NameOf(node_.output())});
    return {};
  }

 private:
  ExportContext& ctx_;
  const Node& node_;
  DType dtype_;
};

Status WriteSame(ExportContext& ctx, const Node& node) {
  const FormatName* format = node.op().FindFormat("onnx");
  pb::NodeProto* out = ctx.AddNode(node, format->path);
  for (const auto& [ours, theirs] : format->attrs) {
    const auto v = node.attrs().Get(ours);
    if (!v) continue;
    if (const auto* f = std::get_if<float>(&*v)) SetFloat(out, theirs, *f);
    if (const auto* b = std::get_if<bool>(&*v)) SetInt(out, theirs, *b ? 1 : 0);
    if (const auto* e = std::get_if<EnumValue>(&*v)) SetString(out, theirs, e->name);
  }
  return {};
}

Status WriteClip(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (ctx.opset() < 11) {
    pb::NodeProto* out = ctx.AddNode(node, "Clip");
    SetFloat(out, "min", a.min);
    SetFloat(out, "max", a.max);
    return {};
  }
  Speller s(ctx, node);
  std::vector<std::string> inputs = {s.In(), "", ""};
  if (!std::isinf(a.min)) inputs[1] = s.Number(static_cast<double>(a.min));
  if (!std::isinf(a.max)) inputs[2] = s.Number(static_cast<double>(a.max));
  return s.Finish("Clip", std::move(inputs));
}
std::optional<std::string> WhyNotClip(const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if ((std::isinf(a.min) && a.min > 0) || (std::isinf(a.max) && a.max < 0))
    return "its min is +infinity or its max is -infinity";
  return WhyNotElementwise(node);
}

Status WriteGelu(ExportContext& ctx, const Node& node) {
  const GeluApproximation kind = node.attrs<GeluAttrs>().approximate;
  if (kind != GeluApproximation::kSigmoid && ctx.opset() >= 20) {
    SetString(ctx.AddNode(node, "Gelu"), "approximate", EnumName(kind));
    return {};
  }
  Speller s(ctx, node);
  const std::string x = s.In();
  if (kind == GeluApproximation::kSigmoid)
    return s.Finish("Mul", {x, s.Do("Sigmoid", {s.Do("Mul", {x, s.Number(1.702)})})});
  std::string inner;
  if (kind == GeluApproximation::kNone) {
    inner = s.Do("Erf", {s.Do("Mul", {x, s.Number(0.70710678118654752440)})});
  } else {
    const std::string cube = s.Do("Mul", {s.Do("Mul", {x, x}), x});
    const std::string sum = s.Do("Add", {x, s.Do("Mul", {cube, s.Number(0.044715)})});
    inner = s.Do("Tanh", {s.Do("Mul", {sum, s.Number(0.79788456080286535588)})});
  }
  const std::string gate = s.Do("Add", {inner, s.Number(1)});
  return s.Finish("Mul", {s.Do("Mul", {x, s.Number(0.5)}), gate});
}
int64_t MinOpsetOfGelu(const Node& node) {
  return node.attrs<GeluAttrs>().approximate == GeluApproximation::kNone ? 9 : 7;
}

Status WriteHardSwish(ExportContext& ctx, const Node& node) {
  if (ctx.opset() >= 14) {
    ctx.AddNode(node, "HardSwish");
    return {};
  }
  Speller s(ctx, node);
  const std::string gate = ctx.NewName("gate");
  pb::NodeProto* out = ctx.AddHelper("HardSigmoid", {s.In()}, {gate});
  SetFloat(out, "alpha", 1.0f / 6.0f);
  SetFloat(out, "beta", 0.5f);
  return s.Finish("Mul", {s.In(), gate});
}

Status WriteMish(ExportContext& ctx, const Node& node) {
  if (ctx.opset() >= 18) {
    ctx.AddNode(node, "Mish");
    return {};
  }
  Speller s(ctx, node);
  return s.Finish("Mul", {s.In(), s.Do("Tanh", {s.Do("Softplus", {s.In()})})});
}

Status WriteSilu(ExportContext& ctx, const Node& node) {
  Speller s(ctx, node);
  return s.Finish("Mul", {s.In(), s.Do("Sigmoid", {s.In()})});
}
Status WriteRsqrt(ExportContext& ctx, const Node& node) {
  Speller s(ctx, node);
  return s.Finish("Reciprocal", {s.Do("Sqrt", {s.In()})});
}
Status WriteExp2(ExportContext& ctx, const Node& node) {
  Speller s(ctx, node);
  return s.Finish("Pow", {s.Number(2), s.In()});
}
Status WriteExpm1(ExportContext& ctx, const Node& node) {
  Speller s(ctx, node);
  return s.Finish("Sub", {s.Do("Exp", {s.In()}), s.Number(1)});
}
Status WriteLog1p(ExportContext& ctx, const Node& node) {
  Speller s(ctx, node);
  return s.Finish("Log", {s.Do("Add", {s.In(), s.Number(1)})});
}
Status WriteSquaredDifference(ExportContext& ctx, const Node& node) {
  Speller s(ctx, node);
  const std::string d = s.Do("Sub", {s.In(0), s.In(1)});
  return s.Finish("Mul", {d, d});
}
Status WriteNotEqual(ExportContext& ctx, const Node& node) {
  Speller s(ctx, node);
  return s.Finish("Not", {s.Do("Equal", {s.In(0), s.In(1)})});
}

// ONNX divides integers toward zero; x minus the floor remainder divides evenly.
Status WriteFloorDiv(ExportContext& ctx, const Node& node) {
  Speller s(ctx, node);
  if (IsFloat(node.input(0)->dtype())) return s.Finish("Floor", {s.Do("Div", {s.In(0), s.In(1)})});
  const std::string rest = s.Do("Mod", {s.In(0), s.In(1)});
  return s.Finish("Div", {s.Do("Sub", {s.In(0), rest}), s.In(1)});
}

Status WriteFmod(ExportContext& ctx, const Node& node) {
  SetInt(ctx.AddNode(node, "Mod"), "fmod", 1);
  return {};
}
// For floats, ONNX has only the remainder with the sign of the dividend.
Status WriteMod(ExportContext& ctx, const Node& node) {
  if (!IsFloat(node.input(0)->dtype())) {
    ctx.AddNode(node, "Mod");
    return {};
  }
  Speller s(ctx, node);
  const std::string rest = ctx.NewName("rest");
  SetInt(ctx.AddHelper("Mod", {s.In(0), s.In(1)}, {rest}), "fmod", 1);
  const std::string zero = s.Number(0);
  const std::string differ =
      s.Do("Xor", {s.Do("Less", {s.In(1), zero}), s.Do("Less", {rest, zero})});
  const std::string some = s.Do("Not", {s.Do("Equal", {rest, zero})});
  return s.Finish("Where", {s.Do("And", {some, differ}), s.Do("Add", {rest, s.In(1)}), rest});
}
int64_t MinOpsetOfMod(const Node& node) {
  return IsFloat(node.input(0)->dtype()) ? 11 : 10;
}

Status WriteBitwiseXor(ExportContext& ctx, const Node& node) {
  ctx.AddNode(node, node.input(0)->dtype() == DType::kBool ? "Xor" : "BitwiseXor");
  return {};
}
int64_t MinOpsetOfBitwiseXor(const Node& node) {
  return node.input(0)->dtype() == DType::kBool ? 7 : 18;
}

Status WriteShift(ExportContext& ctx, const Node& node) {
  SetString(ctx.AddNode(node, "BitShift"), "direction", node.Is("shift_left") ? "LEFT" : "RIGHT");
  return {};
}

// ---- select, cast

std::optional<std::string> WhyNotSelect(const Node& node) {
  if (node.output()->type().quantized())
    return "its operands are quantized; the ONNX operator needs real ones";
  return std::nullopt;
}
int64_t MinOpsetOfSelect(const Node& node) {
  return node.output()->dtype() == DType::kBF16 ? 16 : 9;
}

int64_t OpsetWith(DType t) {
  switch (t) {
    case DType::kBF16:
      return 13;
    case DType::kString:
      return 9;
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
      return 19;
    case DType::kI4:
    case DType::kU4:
      return 21;
    case DType::kF4E2M1:
      return 23;
    case DType::kF8E8M0:
      return 24;
    case DType::kI2:
    case DType::kU2:
      return 25;
    default:
      return 6;
  }
}

Status WriteCast(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<CastAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "Cast");
  SetInt(out, "to", DataTypeOf(a.to));
  if (!a.saturate && ctx.opset() >= 19) SetInt(out, "saturate", 0);
  if (a.to == DType::kF8E8M0) SetString(out, "round_mode", EnumName(a.round_mode));
  return {};
}
std::optional<std::string> WhyNotCast(const Node& node) {
  if (node.input(0)->type().quantized()) return "its operand is quantized; Cast needs a real one";
  if (DataTypeOf(node.attrs<CastAttrs>().to) == 0 || IsComplex(node.input(0)->dtype()) ||
      IsComplex(node.attrs<CastAttrs>().to))
    return fmt::format("ONNX has no Cast from {} to {}", DTypeName(node.input(0)->dtype()),
                       DTypeName(node.attrs<CastAttrs>().to));
  return std::nullopt;
}
int64_t MinOpsetOfCast(const Node& node) {
  return std::max(OpsetWith(node.input(0)->dtype()), OpsetWith(node.attrs<CastAttrs>().to));
}

// ---- quantize, dequantize

// Scale and zero point of a quantized type, the scale as `scale_type`. A zero point of 0 is written
// too, because QuantizeLinear takes the element type from it.
std::vector<std::string> QuantInputs(ExportContext& ctx, const Type& type, DType scale_type,
                                     const std::string& hint) {
  const Quant& q = *type.quant;
  const size_t n = q.scales.size();
  const std::vector<int64_t> dims =
      q.per_axis() ? std::vector<int64_t>{static_cast<int64_t>(n)} : std::vector<int64_t>{};
  auto scale = TensorBuilder::Create(scale_type, dims);  // as small as the type's own lists
  auto zero = TensorBuilder::Create(type.dtype, dims);
  for (size_t i = 0; i < n; ++i) {
    scale->SetDouble(static_cast<int64_t>(i), static_cast<double>(q.scales[i]));
    if (IsInteger(type.dtype))
      zero->SetInt(static_cast<int64_t>(i), q.zero_point(i));
    else
      zero->SetDouble(static_cast<int64_t>(i), 0);
  }
  return {ctx.AddTensor(scale->Finish(), hint + "_scale"),
          ctx.AddTensor(zero->Finish(), hint + "_zero_point")};
}

void SetQuantAxis(pb::NodeProto* out, const Type& type) {
  if (type.quant->per_axis()) SetInt(out, "axis", type.quant->axis);
}

Status WriteQuantize(ExportContext& ctx, const Node& node) {
  const Value* y = node.output();
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0))};
  for (std::string& name : QuantInputs(ctx, y->type(), node.input(0)->dtype(), ctx.NameOf(y)))
    inputs.push_back(std::move(name));
  pb::NodeProto* out = ctx.AddNode(node, "QuantizeLinear", std::move(inputs), {ctx.NameOf(y)});
  SetQuantAxis(out, y->type());
  if (!node.attrs<QuantizeAttrs>().saturate && ctx.opset() >= 19) SetInt(out, "saturate", 0);
  return {};
}
std::optional<std::string> WhyNotQuantize(const Node& node) {
  if (node.input(0)->type().quantized())
    return "it requantizes; QuantizeLinear needs real operands";
  if (!node.output()->type().quantized()) return "its result is not quantized";
  return std::nullopt;
}

Status WriteDequantize(ExportContext& ctx, const Node& node) {
  const Value* x = node.input(0);
  const DType to = node.attrs<DequantizeAttrs>().to;
  if (!x->type().quantized()) {
    SetInt(ctx.AddNode(node, "Cast"), "to", DataTypeOf(to));
    return {};
  }
  std::vector<std::string> inputs = {ctx.NameOf(x)};
  for (std::string& name : QuantInputs(ctx, x->type(), to, ctx.NameOf(x)))
    inputs.push_back(std::move(name));
  // The zero point of 32-bit integers must be 0.
  if (x->dtype() == DType::kI32) inputs.pop_back();
  pb::NodeProto* out =
      ctx.AddNode(node, "DequantizeLinear", std::move(inputs), {ctx.NameOf(node.output())});
  SetQuantAxis(out, x->type());
  return {};
}
std::optional<std::string> WhyNotDequantize(const Node& node) {
  const Type& x = node.input(0)->type();
  if (!x.quantized() || x.dtype != DType::kI32) return std::nullopt;
  for (const int64_t v : x.quant->zero_points)
    if (v != 0) return "an i32 zero point must be 0";
  return std::nullopt;
}

// Checks the quantized value and the real one.
int64_t OpsetForQuant(const Type& q, DType real) {
  int64_t opset = q.quant != nullptr && q.quant->per_axis() ? 13 : 10;
  if (real != DType::kF32) opset = 19;
  if (q.dtype == DType::kI16 || q.dtype == DType::kU16) opset = 21;
  return std::max(opset, OpsetWith(q.dtype));
}
int64_t MinOpsetOfQuantize(const Node& node) {
  return OpsetForQuant(node.output()->type(), node.input(0)->dtype());
}
int64_t MinOpsetOfDequantize(const Node& node) {
  return OpsetForQuant(node.input(0)->type(), node.output()->dtype());
}

}  // namespace

namespace {

constexpr ImportRow kElementwiseImports[] = {
    {.op = "Clip", .since = 1, .import = ImportClip6},
    {.op = "Clip", .since = 11, .import = ImportClip11},
    {.op = "Min", .since = 1, .import = ImportVariadic},
    {.op = "Max", .since = 1, .import = ImportVariadic},
    {.op = "Sum", .since = 1, .import = ImportVariadic},
    {.op = "Mean", .since = 1, .import = ImportMean},
    {.op = "Add", .since = 1, .import = ImportBinary1},
    {.op = "Add", .since = 7, .import = kOneToOne},
    {.op = "Sub", .since = 1, .import = ImportBinary1},
    {.op = "Sub", .since = 7, .import = kOneToOne},
    {.op = "Mul", .since = 1, .import = ImportBinary1},
    {.op = "Mul", .since = 7, .import = kOneToOne},
    {.op = "Div", .since = 1, .import = ImportBinary1},
    {.op = "Div", .since = 7, .import = kOneToOne},
    {.op = "Pow", .since = 1, .import = ImportBinary1},
    {.op = "Pow", .since = 7, .import = kOneToOne},
    {.op = "Equal", .since = 1, .import = ImportBinary1},
    {.op = "Equal", .since = 7, .import = kOneToOne},
    {.op = "Less", .since = 1, .import = ImportBinary1},
    {.op = "Less", .since = 7, .import = kOneToOne},
    {.op = "Greater", .since = 1, .import = ImportBinary1},
    {.op = "Greater", .since = 7, .import = kOneToOne},
    {.op = "And", .since = 1, .import = ImportBinary1},
    {.op = "And", .since = 7, .import = kOneToOne},
    {.op = "Or", .since = 1, .import = ImportBinary1},
    {.op = "Or", .since = 7, .import = kOneToOne},
    {.op = "Xor", .since = 1, .import = ImportBinary1},
    {.op = "Xor", .since = 7, .import = kOneToOne},
    {.op = "Mod", .since = 10, .import = ImportMod},
    {.op = "BitShift", .since = 11, .import = ImportBitShift},
    {.op = "Cast", .since = 1, .import = ImportCast1},
    {.op = "Cast", .since = 6, .import = ImportCast6},
    {.op = "CastLike", .since = 15, .import = ImportCastLike},
    {.op = "Selu", .since = 1, .import = ImportSelu1},
    {.op = "Selu", .since = 6, .import = kOneToOne},
    {.op = "Swish", .since = 24, .import = ImportSwish},
};

// An operator whose versions differ only in the element types.
constexpr ExportRow Same(std::string_view op) {
  return {
      .op = op, .write = WriteSame, .why_not = WhyNotElementwise, .min_opset = ElementwiseOpset};
}

constexpr ExportRow kElementwiseExports[] = {
    Same("abs"),
    Same("neg"),
    Same("sign"),
    Same("floor"),
    Same("ceil"),
    Same("round"),
    Same("sqrt"),
    Same("reciprocal"),
    Same("relu"),
    Same("leaky_relu"),
    Same("exp"),
    Same("log"),
    Same("sigmoid"),
    Same("softplus"),
    Same("softsign"),
    Same("elu"),
    Same("selu"),
    Same("celu"),
    Same("sin"),
    Same("cos"),
    Same("tan"),
    Same("asin"),
    Same("acos"),
    Same("atan"),
    Same("sinh"),
    Same("cosh"),
    Same("tanh"),
    Same("asinh"),
    Same("acosh"),
    Same("atanh"),
    Same("erf"),
    Same("hard_sigmoid"),
    Same("shrink"),
    Same("thresholded_relu"),
    Same("add"),
    Same("sub"),
    Same("mul"),
    Same("div"),
    Same("pow"),
    Same("minimum"),
    Same("maximum"),
    Same("prelu"),
    Same("equal"),
    Same("less"),
    Same("greater"),
    Same("less_equal"),
    Same("greater_equal"),
    Same("and"),
    Same("or"),
    Same("xor"),
    Same("not"),
    Same("bitwise_and"),
    Same("bitwise_or"),
    Same("bitwise_not"),
    Same("is_nan"),
    Same("is_inf"),
    {.op = "clip", .write = WriteClip, .why_not = WhyNotClip, .min_opset = ElementwiseOpset},
    {.op = "gelu", .write = WriteGelu, .why_not = WhyNotElementwise, .min_opset = MinOpsetOfGelu},
    {.op = "hard_swish", .write = WriteHardSwish, .why_not = WhyNotElementwise},
    {.op = "mish", .write = WriteMish, .why_not = WhyNotElementwise},
    {.op = "silu", .write = WriteSilu, .why_not = WhyNotElementwise},
    {.op = "rsqrt", .write = WriteRsqrt, .why_not = WhyNotElementwise},
    {.op = "exp2", .write = WriteExp2, .why_not = WhyNotElementwise},
    {.op = "expm1", .write = WriteExpm1, .why_not = WhyNotElementwise},
    {.op = "log1p", .write = WriteLog1p, .why_not = WhyNotElementwise},
    {.op = "squared_difference",
     .write = WriteSquaredDifference,
     .why_not = WhyNotElementwise,
     .min_opset = ElementwiseOpset},
    {.op = "not_equal",
     .write = WriteNotEqual,
     .why_not = WhyNotElementwise,
     .min_opset = ElementwiseOpset},
    {.op = "floor_div",
     .write = WriteFloorDiv,
     .why_not = WhyNotElementwise,
     .min_opset = ElementwiseOpset},
    {.op = "fmod", .write = WriteFmod, .why_not = WhyNotElementwise, .min_opset = ElementwiseOpset},
    {.op = "mod", .write = WriteMod, .why_not = WhyNotElementwise, .min_opset = MinOpsetOfMod},
    {.op = "bitwise_xor",
     .write = WriteBitwiseXor,
     .why_not = WhyNotElementwise,
     .min_opset = MinOpsetOfBitwiseXor},
    {.op = "shift_left",
     .write = WriteShift,
     .why_not = WhyNotElementwise,
     .min_opset = ElementwiseOpset},
    {.op = "shift_right",
     .write = WriteShift,
     .why_not = WhyNotElementwise,
     .min_opset = ElementwiseOpset},
    {.op = "select", .write = WriteSame, .why_not = WhyNotSelect, .min_opset = MinOpsetOfSelect},
    {.op = "cast", .write = WriteCast, .why_not = WhyNotCast, .min_opset = MinOpsetOfCast},
    {.op = "quantize",
     .write = WriteQuantize,
     .why_not = WhyNotQuantize,
     .min_opset = MinOpsetOfQuantize},
    {.op = "dequantize",
     .write = WriteDequantize,
     .why_not = WhyNotDequantize,
     .min_opset = MinOpsetOfDequantize},
};

}  // namespace

Family ElementwiseFamily() {
  return {.imports = kElementwiseImports, .exports = kElementwiseExports};
}

}  // namespace nn::onnx
