#include "formats/tflite/export.h"
#include "formats/tflite/tensor.h"
#include "ops/elementwise.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

std::optional<std::string> WhyNotArithmetic(const Node& node) {
  const Type& type = node.output()->type();
  if (type.dtype == DType::kF32 || type.quantised() || type.dtype == DType::kI32 ||
      type.dtype == DType::kI64)
    return std::nullopt;
  return fmt::format("{} of {}", node.op_name(), DTypeName(type.dtype));
}

Status WriteAdd(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::ADD, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateAddOptions(ctx.builder(), ctx.ActivationOf(node),
                                       node.output()->dtype() != DType::kI16));
  return {};
}

Status WriteSub(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::SUB, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateSubOptions(ctx.builder(), ctx.ActivationOf(node),
                                       node.output()->dtype() != DType::kI16));
  return {};
}

Status WriteMul(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::MUL, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateMulOptions(ctx.builder(), ctx.ActivationOf(node)));
  return {};
}

Status WriteDiv(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::DIV, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateDivOptions(ctx.builder(), ctx.ActivationOf(node)));
  return {};
}

// ---- Activations --------------------------------------------------------------------------------

std::optional<Op> ClipOperator(const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (a.min == 0 && a.max == 6) return Op::RELU6;
  if (a.min == -1 && a.max == 1) return Op::RELU_N1_TO_1;
  if (a.min == 0 && a.max == 1) return Op::RELU_0_TO_1;
  return std::nullopt;
}

Status WriteClip(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(*ClipOperator(node), {ctx.TensorOf(node.input(0))}, ctx.ResultsOf(node));
  return {};
}

std::optional<std::string> WhyNotClip(const Node& node) {
  if (auto reason = WhyNotReal(node)) return reason;
  const auto& a = node.attrs<ClipAttrs>();
  if (!ClipOperator(node)) return fmt::format("bounds {} and {}", a.min, a.max);
  return std::nullopt;
}

Status WriteElu(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::ELU, ctx.InputsOf(node), ctx.ResultsOf(node));
  return {};
}

std::optional<std::string> WhyNotElu(const Node& node) {
  const float alpha = node.attrs<AlphaAttrs>().alpha;
  if (alpha != 1) return fmt::format("alpha = {}, not 1", alpha);
  return WhyNotReal(node);
}

Status WriteGelu(ExportContext& ctx, const Node& node) {
  const bool tanh = node.attrs<GeluAttrs>().approximate == GeluApproximation::kTanh;
  ctx.AddOperator(Op::GELU, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateGeluOptions(ctx.builder(), tanh));
  return {};
}

std::optional<std::string> WhyNotGelu(const Node& node) {
  if (node.attrs<GeluAttrs>().approximate == GeluApproximation::kSigmoid)
    return "the approximation by a sigmoid";
  return WhyNotReal(node);
}

// ---- Element types ------------------------------------------------------------------------------

Status WriteCast(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::CAST, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateCastOptions(ctx.builder(), *TensorTypeOf(node.input(0)->dtype()),
                                        *TensorTypeOf(node.output()->dtype())));
  return {};
}

std::optional<std::string> WhyNotCast(const Node& node) {
  for (const DType t : {node.input(0)->dtype(), node.output()->dtype()})
    if (t == DType::kString || !TensorTypeOf(t))
      return fmt::format("a cast between {} and {}", DTypeName(node.input(0)->dtype()),
                         DTypeName(node.output()->dtype()));
  return std::nullopt;
}

Status WriteQuantize(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::QUANTIZE, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateQuantizeOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotQuantize(const Node& node) {
  const Type& x = node.input(0)->type();
  if (!node.output()->type().quantised()) return "its output is not quantised";
  if (x.dtype != DType::kF32 && !x.quantised())
    return fmt::format("quantising {}", DTypeName(x.dtype));
  return std::nullopt;
}

Status WriteDequantize(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::DEQUANTIZE, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateDequantizeOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotDequantize(const Node& node) {
  if (!node.input(0)->type().quantised()) return "its input is not quantised";
  if (node.output()->dtype() != DType::kF32)
    return fmt::format("dequantising to {}", DTypeName(node.output()->dtype()));
  return std::nullopt;
}

}  // namespace

void AddElementwiseExports(std::vector<ExportRow>& rows) {
  rows.push_back({"add", WriteAdd, WhyNotArithmetic, Always});
  rows.push_back({"sub", WriteSub, WhyNotArithmetic, Always});
  rows.push_back({"mul", WriteMul, WhyNotArithmetic, Always});
  rows.push_back({"div", WriteDiv, WhyNotArithmetic, Always});
  rows.push_back({"clip", WriteClip, WhyNotClip});
  rows.push_back({"elu", WriteElu, WhyNotElu});
  rows.push_back({"gelu", WriteGelu, WhyNotGelu});
  rows.push_back({"cast", WriteCast, WhyNotCast});
  rows.push_back({"quantize", WriteQuantize, WhyNotQuantize});
  rows.push_back({"dequantize", WriteDequantize, WhyNotDequantize});
}

}  // namespace nn::tflite
