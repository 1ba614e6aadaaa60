#include "formats/tflite/export.h"
#include "ops/matmul.h"

namespace nn::tflite {
namespace {

Status WriteMatmul(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  if (!IsFullyConnected(node)) {
    ctx.AddOperator(fb::BuiltinOperator::BATCH_MATMUL, ctx.InputsOf(node), ctx.ResultsOf(node),
                    fb::CreateBatchMatMulOptions(ctx.builder(), a.transpose_a, a.transpose_b));
    return {};
  }
  VersionTraits traits;
  traits.keep_num_dims = node.output()->type().rank() != 2;
  ctx.AddOperator(fb::BuiltinOperator::FULLY_CONNECTED, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateFullyConnectedOptions(ctx.builder(), ctx.ActivationOf(node),
                                                  fb::FullyConnectedOptionsWeightsFormat::DEFAULT,
                                                  traits.keep_num_dims),
                  traits);
  return {};
}

std::optional<std::string> WhyNotMatmul(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  if (auto reason = WhyNotWeighted(node)) return reason;
  const Type& x = node.input(0)->type();
  const Type& w = node.input(1)->type();
  if (!x.ranked() || !w.ranked()) return "unknown rank";
  if (x.rank() < 2 || w.rank() < 2) return "a product with a vector";
  if (IsFullyConnected(node)) return std::nullopt;
  if (w.rank() == 2 && node.input(1)->is_constant() && !a.transpose_a && !a.transpose_b)
    return "the weights are not transposed";
  if (node.input(2) != nullptr) return "the bias of a product that is not FULLY_CONNECTED";
  if (x.rank() > 5 || w.rank() > 5) return fmt::format("a product of rank {}", x.rank());
  return std::nullopt;
}

}  // namespace

bool IsFullyConnected(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  const Type& w = node.input(1)->type();
  if (node.arithmetic() == Arithmetic::kTfliteFixed) return false;
  return !a.transpose_a && a.transpose_b && w.rank() == 2 && node.input(0)->type().rank() >= 2;
}

void AddMatmulExports(std::vector<ExportRow>& rows) {
  rows.push_back({"matmul", WriteMatmul, WhyNotMatmul, IsFullyConnected});
}

}  // namespace nn::tflite
