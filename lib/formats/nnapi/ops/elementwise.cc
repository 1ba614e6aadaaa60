#include "ops/math/elementwise/elementwise.h"
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

// ---- Functions of one operand -------------------------------------------------------------------

std::optional<std::string> WhyNotActivation(const Node& node) {
  if (!ActivationOf(node)) {
    const auto& a = node.attrs<ClipAttrs>();
    return fmt::format("NNAPI has no clip to [{}, {}] (RELU, RELU1, RELU6 only)", FloatText(a.min),
                       FloatText(a.max));
  }
  return WhyNotArithmetic(node);
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

Status WriteDequantize(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  return ctx.AddOperation(node, OperationType::kDequantize, {x});
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
    {.op = "add", .write = WriteAdd, .why_not = WhyNotArithmetic, .fuses = true},
    {.op = "mul", .write = WriteMul, .why_not = WhyNotArithmetic, .fuses = true},
    {.op = "relu", .write = WriteActivation, .why_not = WhyNotActivation},
    {.op = "clip", .write = WriteActivation, .why_not = WhyNotActivation},
    {.op = "sigmoid", .why_not = WhyNotArithmetic},
    {.op = "dequantize", .write = WriteDequantize},
};

}  // namespace

Family ElementwiseFamily() {
  return {.imports = kElementwiseImports, .exports = kElementwiseExports};
}

}  // namespace nn::nnapi
