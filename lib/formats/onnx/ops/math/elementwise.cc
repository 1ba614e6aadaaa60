// Operators with other forms in old operator sets, and operators that are written as several ONNX
// operators. One-to-one operators have their names in OpDef::formats.
#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

// ---- Clip

// Before operator set 11 the bounds are attributes.
Status ImportClip6(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  ClipAttrs a;
  a.min = ctx.Float("min", std::numeric_limits<float>::lowest());
  a.max = ctx.Float("max", std::numeric_limits<float>::max());
  return ctx.Emit("clip", {x}, a);
}

// Constant bounds that fit in a float become attributes.
Status ImportClip11(ImportContext& ctx) {
  Value* const x = ctx.input(0);
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
  if (constant) {
    NN_ASSIGN(Value* const clipped, ClipIntegers(ctx, x, low, high));
    if (clipped != nullptr) return ctx.EmitTerm(clipped);
  }
  Term y = x;
  if (Value* const v = ctx.input(1)) y = Maximum(y, v);
  if (Value* const v = ctx.input(2)) y = Minimum(y, v);
  return ctx.EmitTerm(y);
}

// ---- Any number of operands

// The operands folded from the left.
Result<Value*> Folded(ImportContext& ctx, std::string_view op) {
  Value* y = ctx.input(0);
  for (size_t i = 1; i < ctx.input_count(); ++i) {
    NN_ASSIGN(Value* const x, ctx.Required(i));
    NN_ASSIGN(y, ctx.Add(op, {y, x}));
  }
  return y;
}

Status ImportVariadic(ImportContext& ctx) {
  const std::string& op = ctx.node().op_type();
  NN_ASSIGN(Value* const y, Folded(ctx, op == "Min" ? "minimum" : op == "Max" ? "maximum" : "add"));
  return ctx.EmitTerm(y);
}

Status ImportMean(ImportContext& ctx) {
  NN_ASSIGN(Value* const sum, Folded(ctx, "add"));
  return ctx.EmitTerm(ctx.input_count() == 1 ? Term(sum) : sum / Term(ctx.input_count()));
}

// ---- Two operands

// Before operator set 7, the second operand is broadcast only with attribute broadcast = 1: its
// axes match those of the first from `axis` on, or the last ones.
Status ImportBinary1(ImportContext& ctx) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"Add", "add"}, {"Sub", "sub"},     {"Mul", "mul"},   {"Div", "div"},
      {"Pow", "pow"}, {"Equal", "equal"}, {"Less", "less"}, {"Greater", "greater"},
      {"And", "and"}, {"Or", "or"},       {"Xor", "xor"}};
  Value* const a = ctx.input(0);
  Value* const b = ctx.input(1);
  Term aligned = b;
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
    if (missing > 0) aligned = Reshape(b, std::move(dims));
  }
  for (const auto& [theirs, ours] : kNames)
    if (theirs == ctx.node().op_type()) return ctx.Emit(ours, {a, aligned});
  return InternalError("{} has no row in the table", ctx.node().op_type());
}

// Before operator set 7, the slopes are one number or one per channel.
Status ImportPrelu1(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const slope = ctx.input(1);
  const bool one = slope->type().ranked() && Product(*slope->type().dims) == Dim(1);
  if (!one && (!x->type().ranked() || !slope->type().ranked() || slope->type().rank() != 1))
    return UnsupportedError(
        "PRelu before operator set 7 needs an input of known rank and one slope or one per "
        "channel");
  Term slopes = slope;
  if (!one && x->type().rank() > 2) {
    Dims dims(static_cast<size_t>(x->type().rank() - 1), Dim(1));
    dims[0] = slope->type().dim(0);
    slopes = Reshape(slope, std::move(dims));
  }
  return ctx.Emit("prelu", {x, slopes});
}

Status ImportMod(ImportContext& ctx) {
  Value* const a = ctx.input(0);
  Value* const b = ctx.input(1);
  const bool fmod = ctx.Int("fmod", 0) != 0;
  if (!fmod && IsFloat(a->dtype()) && ctx.opset() < 28)
    return ModelError("{} operands need fmod = 1", DTypeName(a->dtype()));
  return ctx.Emit(fmod ? "fmod" : "mod", {a, b});
}

// shift_right shifts by 0 for negative amounts, and by all but one bit for those of the width and
// more. From version 28 on, both leave only the extension of the sign; before, they are undefined.
Term ShiftedRight(Value* a, Value* b) {
  const int bits = DTypeBits(b->dtype());
  if (MinInteger(b->dtype()) == 0)
    return Select(GreaterEqual(b, bits), 0, Apply("shift_right", {a, b}));
  return Apply("shift_right", {a, Select(Less(b, 0), bits - 1, b)});
}

// Whether all amounts of a shift are known, and less than the width.
bool ShiftsWithinWidth(const ImportContext& ctx, DType dtype) {
  const Tensor* const amounts = ctx.Constant(1);
  return amounts != nullptr && std::ranges::all_of(amounts->ToInts(), [&](int64_t n) {
           return n >= 0 && n < DTypeBits(dtype);
         });
}

Status ImportBitShift(ImportContext& ctx) {
  Value* const a = ctx.input(0);
  Value* const b = ctx.input(1);
  const std::string direction = ctx.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return ModelError("direction must be LEFT or RIGHT");
  if (direction == "RIGHT" && ctx.opset() >= 28 && IsInteger(b->dtype()) &&
      !ShiftsWithinWidth(ctx, b->dtype()))
    return ctx.EmitTerm(ShiftedRight(a, b));
  return ctx.Emit(direction == "LEFT" ? "shift_left" : "shift_right", {a, b});
}

// ---- One operand

// Version 1 has other defaults than version 6.
Status ImportSelu1(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("selu", {x}, SeluAttrs{ctx.Float("alpha", 1.6732f), ctx.Float("gamma", 1.0507f)});
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

// ---- Written as several operators

// Writes expressions; the last operator gets the node's name.
class Speller {
 public:
  Speller(ExportContext& ctx, const Node& node)
      : ctx_(ctx), node_(node), dtype_(node.input(0)->dtype()) {}

  std::string In(size_t i = 0) { return ctx_.NameOf(node_.input(i)); }
  // A scalar of the operands' type. If that is not known, Finish() fails.
  std::string Number(double v) {
    auto b = TensorBuilder::Create(dtype_, {});
    if (!b) {
      status_ = tl::unexpected(b.error());
      return {};
    }
    b->SetDouble(0, v);
    return ctx_.AddTensor(b->Finish(), "number");
  }
  std::string Do(std::string_view op, std::vector<std::string> inputs) {
    return ctx_.AddValue(op, std::move(inputs), node_.output()->name());
  }
  // The operand, but the lowest number in place of -infinity, whose product with 0 is NaN.
  std::string Finite() {
    double lowest = std::numeric_limits<float>::lowest();
    if (dtype_ == DType::kF16) lowest = -65504;
    if (dtype_ == DType::kBF16) lowest = -0x1.FEp127;
    if (ctx_.opset() >= 8) return Do("Max", {In(), Number(lowest)});
    std::string name = ctx_.NewName(node_.output()->name());
    pb::NodeProto* const clip = ctx_.AddHelper("Clip", {{name}, {In()}});
    SetFloat(clip, "min", static_cast<float>(lowest));
    SetFloat(clip, "max", std::numeric_limits<float>::infinity());
    return name;
  }
  Status Finish(std::string_view op, std::vector<std::string> inputs) {
    NN_RETURN_IF_ERROR(status_);
    ctx_.AddNode(node_, op, {{ctx_.NameOf(node_.output())}, std::move(inputs)});
    return {};
  }

 private:
  ExportContext& ctx_;
  const Node& node_;
  DType dtype_;
  Status status_;
};

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
  auto min = static_cast<double>(a.min), max = static_cast<double>(a.max);
  if (const DType dtype = node.input(0)->dtype(); IsInteger(dtype)) {
    // Bounds out of the range of the type would wrap.
    const auto low = static_cast<double>(MinInteger(dtype));
    const auto high = static_cast<double>(MaxInteger(dtype));
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    min = min <= low ? -kInfinity : std::min(min, high);
    max = max >= high ? kInfinity : std::max(max, low);
  }
  if (!std::isinf(min)) inputs[1] = s.Number(min);
  if (!std::isinf(max)) inputs[2] = s.Number(max);
  return s.Finish("Clip", std::move(inputs));
}
std::optional<std::string> WhyNotClip(const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if ((std::isinf(a.min) && a.min > 0) || (std::isinf(a.max) && a.max < 0))
    return "its min is +infinity or its max is -infinity";
  return WhyNotReal(node);
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
    return s.Finish("Mul", {s.Finite(), s.Do("Sigmoid", {s.Do("Mul", {x, s.Number(1.702)})})});
  std::string inner;
  if (kind == GeluApproximation::kNone) {
    inner = s.Do("Erf", {s.Do("Mul", {x, s.Number(0.70710678118654752440)})});
  } else {
    const std::string cube = s.Do("Mul", {s.Do("Mul", {x, x}), x});
    const std::string sum = s.Do("Add", {x, s.Do("Mul", {cube, s.Number(0.044715)})});
    inner = s.Do("Tanh", {s.Do("Mul", {sum, s.Number(0.79788456080286535588)})});
  }
  const std::string gate = s.Do("Add", {inner, s.Number(1)});
  return s.Finish("Mul", {s.Do("Mul", {s.Finite(), s.Number(0.5)}), gate});
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
  pb::NodeProto* out = ctx.AddHelper("HardSigmoid", {{gate}, {s.In()}});
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
  return s.Finish("Mul", {s.Finite(), s.Do("Tanh", {s.Do("Softplus", {s.In()})})});
}

// NaN at -infinity, where silu is 0. A maximum would keep the bits, but runtimes that fuse this
// product would not recognize it any more.
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
  // Div rounds toward zero: one less where the signs differ and there is a rest. The product cannot
  // overflow; the difference with the rest of Mod could.
  const DType dtype = node.input(0)->dtype();
  const std::string quotient = s.Do("Div", {s.In(0), s.In(1)});
  if (!IsSigned(dtype)) return s.Finish("Identity", {quotient});
  const std::string signs = s.Do("Mul", {s.Do("Sign", {s.In(0)}), s.Do("Sign", {s.In(1)})});
  const std::string differ = s.Do("Less", {signs, s.Number(0)});
  const std::string whole = s.Do("Equal", {s.Do("Mul", {quotient, s.In(1)}), s.In(0)});
  const std::string down = s.Do("And", {differ, s.Do("Not", {whole})});
  return s.Finish("Where", {down, s.Do("Sub", {quotient, s.Number(1)}), quotient});
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
  SetInt(ctx.AddHelper("Mod", {{rest}, {s.In(0), s.In(1)}}), "fmod", 1);
  const std::string zero = s.Number(0);
  const std::string differ =
      s.Do("Xor", {s.Do("Less", {s.In(1), zero}), s.Do("Less", {rest, zero})});
  const std::string some = s.Do("Not", {s.Do("Equal", {rest, zero})});
  return s.Finish("Where", {s.Do("And", {some, differ}), s.Do("Add", {rest, s.In(1)}), rest});
}
Status WriteBitwiseXor(ExportContext& ctx, const Node& node) {
  ctx.AddNode(node, node.input(0)->dtype() == DType::kBool ? "Xor" : "BitwiseXor");
  return {};
}
constexpr char kLeft[] = "LEFT", kRight[] = "RIGHT";
template <const char* direction>
Status WriteShift(ExportContext& ctx, const Node& node) {
  SetString(ctx.AddNode(node, "BitShift"), "direction", direction);
  return {};
}

}  // namespace

namespace {

constexpr ImportRow kElementwiseImports[] = {
    {.op = "Clip", .since = 1, .import = ImportClip6, .inputs = 1},
    {.op = "Clip", .since = 11, .import = ImportClip11, .inputs = 1},
    {.op = "Min", .since = 1, .import = ImportVariadic, .inputs = 1},
    {.op = "Max", .since = 1, .import = ImportVariadic, .inputs = 1},
    {.op = "Sum", .since = 1, .import = ImportVariadic, .inputs = 1},
    {.op = "Mean", .since = 1, .import = ImportMean, .inputs = 1},
    {.op = "Add", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "Add", .since = 7, .import = kOneToOne},
    {.op = "Sub", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "Sub", .since = 7, .import = kOneToOne},
    {.op = "Mul", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "Mul", .since = 7, .import = kOneToOne},
    {.op = "Div", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "Div", .since = 7, .import = kOneToOne},
    {.op = "Pow", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "Pow", .since = 7, .import = kOneToOne},
    {.op = "Equal", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "Equal", .since = 7, .import = kOneToOne},
    {.op = "Less", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "Less", .since = 7, .import = kOneToOne},
    {.op = "Greater", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "Greater", .since = 7, .import = kOneToOne},
    {.op = "And", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "And", .since = 7, .import = kOneToOne},
    {.op = "Or", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "Or", .since = 7, .import = kOneToOne},
    {.op = "Xor", .since = 1, .import = ImportBinary1, .inputs = 2},
    {.op = "Xor", .since = 7, .import = kOneToOne},
    {.op = "PRelu", .since = 1, .import = ImportPrelu1, .inputs = 2},
    {.op = "PRelu", .since = 7, .import = kOneToOne},
    {.op = "Mod", .since = 10, .import = ImportMod, .inputs = 2},
    {.op = "BitShift", .since = 11, .import = ImportBitShift, .inputs = 2},
    {.op = "Selu", .since = 1, .import = ImportSelu1, .inputs = 1},
    {.op = "Selu", .since = 6, .import = kOneToOne},
};

constexpr ExportRow kElementwiseExports[] = {
    {.op = "clip", .write = WriteClip, .why_not = WhyNotClip},
    {.op = "gelu", .write = WriteGelu, .why_not = WhyNotReal, .min_opset = MinOpsetOfGelu},
    {.op = "hard_swish", .write = WriteHardSwish, .why_not = WhyNotReal},
    {.op = "mish", .write = WriteMish, .why_not = WhyNotReal},
    {.op = "silu", .write = WriteSilu, .why_not = WhyNotReal},
    {.op = "rsqrt", .write = WriteRsqrt, .why_not = WhyNotReal},
    {.op = "exp2", .write = WriteExp2, .why_not = WhyNotReal},
    {.op = "expm1", .write = WriteExpm1, .why_not = WhyNotReal},
    {.op = "log1p", .write = WriteLog1p, .why_not = WhyNotReal},
    {.op = "squared_difference", .write = WriteSquaredDifference, .why_not = WhyNotReal},
    {.op = "not_equal", .write = WriteNotEqual, .why_not = WhyNotReal},
    {.op = "floor_div", .write = WriteFloorDiv, .why_not = WhyNotReal},
    {.op = "fmod", .write = WriteFmod, .why_not = WhyNotReal},
    {.op = "mod", .write = WriteMod, .why_not = WhyNotReal},
    {.op = "bitwise_xor", .write = WriteBitwiseXor, .why_not = WhyNotReal},
    {.op = "shift_left", .write = WriteShift<kLeft>, .why_not = WhyNotReal},
    {.op = "shift_right", .write = WriteShift<kRight>, .why_not = WhyNotReal},
};

}  // namespace

Family ElementwiseFamily() {
  return {.imports = kElementwiseImports, .exports = kElementwiseExports};
}

}  // namespace nn::onnx
