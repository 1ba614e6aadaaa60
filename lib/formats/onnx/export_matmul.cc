#include "formats/onnx/export.h"
#include "ops/matmul.h"

namespace nn::onnx {
namespace {

bool IsPlain(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  return !a.transpose_a && !a.transpose_b && node.input(2) == nullptr;
}

Status WriteMatmul(ExportContext& ctx, const Node& node) {
  if (IsPlain(node)) {
    ctx.AddNode(node, "MatMul");
    return {};
  }
  const auto& a = node.attrs<MatmulAttrs>();
  std::vector<std::string> inputs;
  for (const Value* v : node.inputs()) inputs.push_back(ctx.NameOf(v));
  if (inputs.size() < 3) inputs.emplace_back();
  if (inputs[2].empty() && ctx.opset() < 11) {  // C is not optional yet
    NN_ASSIGN(TensorBuilder zero, TensorBuilder::Create(node.output()->dtype(), {1}));
    zero.SetInt(0, 0);
    inputs[2] = ctx.AddTensor(zero.Finish(), "zero");
  }
  pb::NodeProto* out = ctx.AddNode(node, "Gemm", std::move(inputs), {ctx.NameOf(node.output())});
  if (a.transpose_a) SetInt(out, "transA", 1);
  if (a.transpose_b) SetInt(out, "transB", 1);
  return {};
}

std::optional<std::string> WhyNotMatmul(const Node& node) {
  const Type& a = node.input(0)->type();
  const Type& b = node.input(1)->type();
  if (a.quantised()) return "quantised matrix product";
  switch (a.dtype) {
    case DType::kI8:
    case DType::kU8:
    case DType::kI16:
    case DType::kU16:
      return fmt::format("matrix product of {}", DTypeName(a.dtype));
    default:
      break;
  }
  if (!IsPlain(node) && !(a.ranked() && b.ranked() && a.rank() == 2 && b.rank() == 2))
    return "a bias or transposed operands beyond two dimensions";
  return std::nullopt;
}

}  // namespace

void AddMatmulExports(std::vector<ExportRow>& rows) {
  rows.push_back({"matmul", WriteMatmul, WhyNotMatmul});
}

}  // namespace nn::onnx
