#include "formats/nnapi/export.h"
#include "ops/elementwise.h"

namespace nn::nnapi {
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
    return fmt::format("operands of {} and {}", DTypeName(a.dtype), DTypeName(b.dtype));
  if (a.quantised() && node.arithmetic() != Arithmetic::kTflite) return "quantised by other rules";
  return std::nullopt;
}

std::optional<std::string> WhyNotMul(const Node& node) {
  if (auto reason = WhyNotBinary(node)) return reason;
  const Type& y = node.output()->type();
  if (!y.quantised()) return std::nullopt;
  const float product = node.input(0)->type().quant->scale() * node.input(1)->type().quant->scale();
  if (y.quant->scale() > product) return std::nullopt;
  return fmt::format("an output scale of {}, not above that of the product, {}",
                     FloatText(y.quant->scale()), FloatText(product));
}

// ---- Functions of one operand -------------------------------------------------------------------

std::optional<std::string> WhyNotActivation(const Node& node) {
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  if (!ActivationOf(node)) {
    const auto& a = node.attrs<ClipAttrs>();
    return fmt::format("clipping to [{}, {}]", FloatText(a.min), FloatText(a.max));
  }
  if (!x.quantised()) return std::nullopt;
  if (node.arithmetic() != Arithmetic::kTflite) return "quantised by other rules";
  if (!y.quantised() || !x.quant->SameMapping(*y.quant)) return "a result of another scale";
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
  return InternalError("no activation of NNAPI");
}

std::optional<std::string> WhyNotFloat(const Node& node) {
  if (!node.input(0)->type().quantised()) return std::nullopt;
  return fmt::format("{} of quantised tensors", node.op_name());
}

std::optional<std::string> WhyNotSigmoid(const Node& node) {
  const Type& y = node.output()->type();
  if (!node.input(0)->type().quantised()) return std::nullopt;
  if (node.arithmetic() != Arithmetic::kTflite) return "quantised by other rules";
  if (!y.quantised() || y.quant->scale() != 1.0f / 256 || y.quant->zero_point() != 0)
    return fmt::format("a result {}, not of scale 1/256 and zero point 0", y.ToString());
  return std::nullopt;
}

Status WriteDequantize(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  return ctx.AddOperation(node, OperationType::kDequantize, {x});
}

std::optional<std::string> WhyNotDequantize(const Node& node) {
  const DType x = node.input(0)->dtype();
  if (x != DType::kU8) return fmt::format("dequantisation of {}", DTypeName(x));
  return std::nullopt;
}

}  // namespace

void AddElementwiseExports(std::vector<ExportRow>& rows) {
  rows.push_back({"add", WriteAdd, WhyNotBinary, true});
  rows.push_back({"mul", WriteMul, WhyNotMul, true});
  rows.push_back({"relu", WriteActivation, WhyNotActivation});
  rows.push_back({"clip", WriteActivation, WhyNotActivation});
  rows.push_back({"floor", nullptr, WhyNotFloat});
  rows.push_back({"tanh", nullptr, WhyNotFloat});
  rows.push_back({"sigmoid", nullptr, WhyNotSigmoid});
  rows.push_back({"dequantize", WriteDequantize, WhyNotDequantize});
}

}  // namespace nn::nnapi
