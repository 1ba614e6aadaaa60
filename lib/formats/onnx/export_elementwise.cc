// Operators that are one-to-one take their names from OpDef::formats; here are the element types
// that each version of ONNX knows for them, and the operators that ONNX spells with several.
#include <array>
#include <cmath>

#include "formats/onnx/export.h"
#include "formats/onnx/tensor.h"
#include "ir/op_def.h"
#include "ops/elementwise.h"

namespace nn::onnx {
namespace {

// ---- Element types

constexpr int64_t kNever = 1 << 20;

// From which operator set on an operator takes operands of a type.
struct TypeRow {
  std::string_view op;
  int64_t real = 1;         // f16, f32, f64
  int64_t wide = kNever;    // integers of 32 and 64 bits
  int64_t narrow = kNever;  // integers of 8 and 16 bits
  int64_t boolean = kNever;
  int64_t bf16 = 13;
};

// What is not listed takes reals, bf16 from 22 on.
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

std::optional<std::string> WhyNot(const Node& node) {
  for (const Value* v : node.inputs())
    if (v->type().quantised()) return "quantised operands";
  if (node.output()->type().quantised()) return "a quantised result";
  const DType t = node.input(0)->dtype();
  const bool mixed_shift = (node.Is("shift_left") || node.Is("shift_right")) && IsSigned(t);
  if (mixed_shift || OpsetForType(TypesOf(node.op_name()), t) == kNever)
    return fmt::format("ONNX has no {} of {}", node.op_name(), DTypeName(t));
  return std::nullopt;
}

// ---- Spelled with several

// Writes expressions whose last operator bears the node's name.
class Speller {
 public:
  Speller(ExportContext& ctx, const Node& node)
      : ctx_(ctx), node_(node), dtype_(node.input(0)->dtype()) {}

  std::string In(size_t i = 0) { return ctx_.NameOf(node_.input(i)); }
  // A number of the operands' type.
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
    return "a bound that nothing reaches";
  return WhyNot(node);
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

// Integers of ONNX divide toward zero; what is left over by the floor's remainder divides evenly.
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
// Of reals ONNX has the remainder with the dividend's sign only.
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
  if (node.output()->type().quantised()) return "quantised operands";
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
  if (node.input(0)->type().quantised()) return "quantised operands";
  if (DataTypeOf(node.attrs<CastAttrs>().to) == 0 || IsComplex(node.input(0)->dtype()) ||
      IsComplex(node.attrs<CastAttrs>().to))
    return fmt::format("a cast of {} to {}", DTypeName(node.input(0)->dtype()),
                       DTypeName(node.attrs<CastAttrs>().to));
  return std::nullopt;
}
int64_t MinOpsetOfCast(const Node& node) {
  return std::max(OpsetWith(node.input(0)->dtype()), OpsetWith(node.attrs<CastAttrs>().to));
}

// ---- quantize, dequantize

// Scale and zero point of a quantised type, the scale as `scale_type`. A zero point of 0 is written
// too: QuantizeLinear takes the element type from it.
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
  if (node.input(0)->type().quantised()) return "a change of scale";
  if (!node.output()->type().quantised()) return "a result that is not quantised";
  return std::nullopt;
}

Status WriteDequantize(ExportContext& ctx, const Node& node) {
  const Value* x = node.input(0);
  const DType to = node.attrs<DequantizeAttrs>().to;
  if (!x->type().quantised()) {
    SetInt(ctx.AddNode(node, "Cast"), "to", DataTypeOf(to));
    return {};
  }
  std::vector<std::string> inputs = {ctx.NameOf(x)};
  for (std::string& name : QuantInputs(ctx, x->type(), to, ctx.NameOf(x)))
    inputs.push_back(std::move(name));
  // Integers of 32 bits have no zero point but 0.
  if (x->dtype() == DType::kI32) inputs.pop_back();
  pb::NodeProto* out =
      ctx.AddNode(node, "DequantizeLinear", std::move(inputs), {ctx.NameOf(node.output())});
  SetQuantAxis(out, x->type());
  return {};
}
std::optional<std::string> WhyNotDequantize(const Node& node) {
  const Type& x = node.input(0)->type();
  if (!x.quantised() || x.dtype != DType::kI32) return std::nullopt;
  for (const int64_t v : x.quant->zero_points)
    if (v != 0) return "a zero point other than 0 of i32";
  return std::nullopt;
}

// Of the quantised value and the reals.
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

void AddElementwiseExports(std::vector<ExportRow>& rows) {
  for (const std::string_view op : {"abs",
                                    "neg",
                                    "sign",
                                    "floor",
                                    "ceil",
                                    "round",
                                    "sqrt",
                                    "reciprocal",
                                    "relu",
                                    "leaky_relu",
                                    "exp",
                                    "log",
                                    "sigmoid",
                                    "softplus",
                                    "softsign",
                                    "elu",
                                    "selu",
                                    "celu",
                                    "sin",
                                    "cos",
                                    "tan",
                                    "asin",
                                    "acos",
                                    "atan",
                                    "sinh",
                                    "cosh",
                                    "tanh",
                                    "asinh",
                                    "acosh",
                                    "atanh",
                                    "erf",
                                    "hard_sigmoid",
                                    "shrink",
                                    "thresholded_relu",
                                    "add",
                                    "sub",
                                    "mul",
                                    "div",
                                    "pow",
                                    "minimum",
                                    "maximum",
                                    "prelu",
                                    "equal",
                                    "less",
                                    "greater",
                                    "less_equal",
                                    "greater_equal",
                                    "and",
                                    "or",
                                    "xor",
                                    "not",
                                    "bitwise_and",
                                    "bitwise_or",
                                    "bitwise_not",
                                    "is_nan",
                                    "is_inf"})
    rows.push_back({op, WriteSame, WhyNot, ElementwiseOpset});
  rows.push_back({"clip", WriteClip, WhyNotClip, ElementwiseOpset});
  rows.push_back({"gelu", WriteGelu, WhyNot, MinOpsetOfGelu});
  rows.push_back({"hard_swish", WriteHardSwish, WhyNot});
  rows.push_back({"mish", WriteMish, WhyNot});
  rows.push_back({"silu", WriteSilu, WhyNot});
  rows.push_back({"rsqrt", WriteRsqrt, WhyNot});
  rows.push_back({"exp2", WriteExp2, WhyNot});
  rows.push_back({"expm1", WriteExpm1, WhyNot});
  rows.push_back({"log1p", WriteLog1p, WhyNot});
  rows.push_back({"squared_difference", WriteSquaredDifference, WhyNot, ElementwiseOpset});
  rows.push_back({"not_equal", WriteNotEqual, WhyNot, ElementwiseOpset});
  rows.push_back({"floor_div", WriteFloorDiv, WhyNot, ElementwiseOpset});
  rows.push_back({"fmod", WriteFmod, WhyNot, ElementwiseOpset});
  rows.push_back({"mod", WriteMod, WhyNot, MinOpsetOfMod});
  rows.push_back({"bitwise_xor", WriteBitwiseXor, WhyNot, MinOpsetOfBitwiseXor});
  rows.push_back({"shift_left", WriteShift, WhyNot, ElementwiseOpset});
  rows.push_back({"shift_right", WriteShift, WhyNot, ElementwiseOpset});
  rows.push_back({"select", WriteSame, WhyNotSelect, MinOpsetOfSelect});
  rows.push_back({"cast", WriteCast, WhyNotCast, MinOpsetOfCast});
  rows.push_back({"quantize", WriteQuantize, WhyNotQuantize, MinOpsetOfQuantize});
  rows.push_back({"dequantize", WriteDequantize, WhyNotDequantize, MinOpsetOfDequantize});
}

}  // namespace nn::onnx
