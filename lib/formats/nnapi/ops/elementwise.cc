#include "ops/math/elementwise.h"
#include "formats/nnapi/family.h"

namespace nn::nnapi {

// ==== From NNAPI =================================================================================

namespace {

Status EmitBinary(ImportContext& ctx, std::string_view op) {
  NN_ASSIGN(Value* const a, ctx.Required(0));
  NN_ASSIGN(Value* const b, ctx.Required(1));
  if (a->dtype() != b->dtype())
    return ModelError("the inputs must have one type; they are {} and {}", DTypeName(a->dtype()),
                      DTypeName(b->dtype()));
  return ctx.EmitFused(op, {a, b}, {}, 2);
}

Status ImportAdd(ImportContext& ctx) {
  return EmitBinary(ctx, "add");
}
Status ImportMul(ImportContext& ctx) {
  return EmitBinary(ctx, "mul");
}

Status EmitClip(ImportContext& ctx, float min, float max) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("clip", {x}, ClipAttrs{min, max});
}

Status ImportRelu1(ImportContext& ctx) {
  return EmitClip(ctx, -1, 1);
}
Status ImportRelu6(ImportContext& ctx) {
  return EmitClip(ctx, 0, 6);
}

Status ImportDequantize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("dequantize", {x}, DequantizeAttrs{});
}

}  // namespace

// ==== To NNAPI ===================================================================================

namespace {

// ---- ADD and MUL --------------------------------------------------------------------------------

Status WriteBinary(ExportContext& ctx, const Node& node, OperationType type) {
  NN_ASSIGN(const uint32_t a, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t b, ctx.OperandOf(node.input(1)));
  NN_ASSIGN(const uint32_t activation, ctx.Activation(node));
  return ctx.AddOperation(node, type, {a, b, activation});
}

Status WriteAdd(ExportContext& ctx, const Node& node) {
  return WriteBinary(ctx, node, OperationType::kAdd);
}
Status WriteMul(ExportContext& ctx, const Node& node) {
  return WriteBinary(ctx, node, OperationType::kMul);
}

std::optional<std::string> WhyNotBinary(const Node& node) {
  const Type& a = node.input(0)->type();
  const Type& b = node.input(1)->type();
  const Type& y = node.output()->type();
  if (a.dtype != b.dtype || a.dtype != y.dtype)
    return fmt::format("operands and result must have one type; the operands are {} and {}",
                       DTypeName(a.dtype), DTypeName(b.dtype));
  if (a.quantized() && node.arithmetic() != Arithmetic::kTflite)
    return "its quantized arithmetic must be TensorFlow Lite's";
  return std::nullopt;
}

std::optional<std::string> WhyNotMul(const Node& node) {
  if (auto reason = WhyNotBinary(node)) return reason;
  const Type& y = node.output()->type();
  if (!y.quantized()) return std::nullopt;
  const float product = node.input(0)->type().quant->scale() * node.input(1)->type().quant->scale();
  if (y.quant->scale() > product) return std::nullopt;
  return fmt::format("the output scale {} must be above that of the product, {}",
                     FloatText(y.quant->scale()), FloatText(product));
}

// ---- Functions of one operand -------------------------------------------------------------------

std::optional<std::string> WhyNotActivation(const Node& node) {
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  if (!ActivationOf(node)) {
    const auto& a = node.attrs<ClipAttrs>();
    return fmt::format("NNAPI has no clip to [{}, {}] (RELU, RELU1, RELU6 only)", FloatText(a.min),
                       FloatText(a.max));
  }
  if (!x.quantized()) return std::nullopt;
  if (node.arithmetic() != Arithmetic::kTflite)
    return "its quantized arithmetic must be TensorFlow Lite's";
  if (!y.quantized() || !x.quant->SameMapping(*y.quant))
    return "input and result must have the same quantization";
  return std::nullopt;
}

Status WriteActivation(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  switch (ActivationOf(node).value_or(FusedActivation::kNone)) {
    case FusedActivation::kRelu:
      return ctx.AddOperation(node, OperationType::kRelu, {x});
    case FusedActivation::kRelu1:
      return ctx.AddOperation(node, OperationType::kRelu1, {x});
    case FusedActivation::kRelu6:
      return ctx.AddOperation(node, OperationType::kRelu6, {x});
    case FusedActivation::kNone:
      break;
  }
  return InternalError("not an NNAPI activation");
}

std::optional<std::string> WhyNotFloat(const Node& node) {
  if (!node.input(0)->type().quantized()) return std::nullopt;
  return fmt::format("{} does not support quantized tensors in NNAPI 1.0", node.op_name());
}

std::optional<std::string> WhyNotSigmoid(const Node& node) {
  const Type& y = node.output()->type();
  if (!node.input(0)->type().quantized()) return std::nullopt;
  if (node.arithmetic() != Arithmetic::kTflite)
    return "its quantized arithmetic must be TensorFlow Lite's";
  if (!y.quantized() || y.quant->scale() != 1.0f / 256 || y.quant->zero_point() != 0)
    return fmt::format("the result {} must have scale 1/256 and zero point 0", y.ToString());
  return std::nullopt;
}

Status WriteDequantize(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  return ctx.AddOperation(node, OperationType::kDequantize, {x});
}

std::optional<std::string> WhyNotDequantize(const Node& node) {
  const DType x = node.input(0)->dtype();
  if (x != DType::kU8) return fmt::format("DEQUANTIZE does not support {}", DTypeName(x));
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kElementwiseImports[] = {
    {.operation = OperationType::kAdd, .import = ImportAdd},
    {.operation = OperationType::kMul, .import = ImportMul},
    {.operation = OperationType::kRelu1, .import = ImportRelu1},
    {.operation = OperationType::kRelu6, .import = ImportRelu6},
    {.operation = OperationType::kDequantize, .import = ImportDequantize},
};

constexpr ExportRow kElementwiseExports[] = {
    {.op = "add", .write = WriteAdd, .why_not = WhyNotBinary, .fuses = true},
    {.op = "mul", .write = WriteMul, .why_not = WhyNotMul, .fuses = true},
    {.op = "relu", .write = WriteActivation, .why_not = WhyNotActivation},
    {.op = "clip", .write = WriteActivation, .why_not = WhyNotActivation},
    {.op = "floor", .why_not = WhyNotFloat},
    {.op = "tanh", .why_not = WhyNotFloat},
    {.op = "sigmoid", .why_not = WhyNotSigmoid},
    {.op = "dequantize", .write = WriteDequantize, .why_not = WhyNotDequantize},
};

}  // namespace

Family ElementwiseFamily() {
  return {.imports = kElementwiseImports, .exports = kElementwiseExports};
}

}  // namespace nn::nnapi
