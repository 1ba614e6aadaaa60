#include "formats/nnapi/export.h"
#include "ops/matmul.h"

namespace nn::nnapi {
namespace {

Status WriteMatmul(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t weights, ctx.OperandOf(node.input(1)));
  NN_ASSIGN(const uint32_t bias, BiasOf(ctx, node, node.output()->type().const_dims()->back()));
  NN_ASSIGN(const uint32_t activation, ctx.Activation(node));
  return ctx.AddOperation(node, OperationType::kFullyConnected, {x, weights, bias, activation});
}

std::optional<std::string> WhyNotMatmul(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  const int x = node.input(0)->type().rank();
  const int w = node.input(1)->type().rank();
  if (x != 2 || w != 2) return fmt::format("a matrix product of rank {} by rank {}", x, w);
  if (a.transpose_a) return "a transposed input of a matrix product";
  if (!a.transpose_b) return "weights of a matrix product that are not transposed";
  return WhyNotProduct(node);
}

}  // namespace

void AddMatmulExports(std::vector<ExportRow>& rows) {
  rows.push_back({"matmul", WriteMatmul, WhyNotMatmul, true});
}

}  // namespace nn::nnapi
