#include "formats/coreml/export.h"
#include "formats/coreml/weights.h"
#include "ops/matmul.h"

namespace nn::coreml {
namespace {

// A product with a constant matrix, up to rank 3 as an inner product.
bool HasWeights(const Node& node) {
  return ConstantOf(node, 1) != nullptr && node.input(1)->type().rank() == 2 &&
         !node.input(0)->is_constant();
}

void WriteBias(Writer params, const Node& node) {
  if (node.input(2) == nullptr) return;
  params.Bool("hasBias", true);
  WriteWeights(params.Sub("bias"), *ConstantOf(node, 2));
}

Status WriteMatmul(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  if (!HasWeights(node)) {
    Writer p = ctx.AddLayer(node, "batchedMatmul");
    p.Bool("transposeA", a.transpose_a);
    p.Bool("transposeB", a.transpose_b);
    return {};
  }
  const Tensor& w = *ConstantOf(node, 1);
  const bool inner = node.input(0)->type().rank() <= 3;
  Writer p = ctx.AddLayer(node, inner ? "innerProduct" : "batchedMatmul", 1);
  p.Int(inner ? "inputChannels" : "weightMatrixFirstDimension", w.dim(1));
  p.Int(inner ? "outputChannels" : "weightMatrixSecondDimension", w.dim(0));
  WriteWeights(p.Sub("weights"), w);
  WriteBias(p, node);
  return {};
}

std::optional<std::string> WhyNotMatmul(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  if (!HasWeights(node)) {
    if (node.input(2) != nullptr) return "a product of two blobs with a bias";
    if (node.input(0)->type().rank() < 2 || node.input(1)->type().rank() < 2)
      return "a product with a vector that is no constant";
    return std::nullopt;
  }
  if (a.transpose_a || !a.transpose_b) return "weights that are not in rows of outputs";
  if (node.input(2) != nullptr &&
      (ConstantOf(node, 2) == nullptr || ConstantOf(node, 2)->rank() != 1))
    return "a bias that is no constant vector";
  return std::nullopt;
}

}  // namespace

void AddMatmulExports(std::vector<ExportRow>& rows) {
  rows.push_back({"matmul", WriteMatmul, WhyNotMatmul});
}

}  // namespace nn::coreml
