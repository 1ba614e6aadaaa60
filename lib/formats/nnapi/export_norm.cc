#include "formats/nnapi/export.h"
#include "ops/norm.h"
#include "ops/softmax.h"

namespace nn::nnapi {
namespace {

bool IsLast(int64_t axis, int rank) {
  return axis == -1 || axis == rank - 1;
}

Status WriteL2Normalization(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  return ctx.AddOperation(node, OperationType::kL2Normalization, {x});
}

std::optional<std::string> WhyNotL2Normalization(const Node& node) {
  const auto& a = node.attrs<L2NormalizationAttrs>();
  const Type& x = node.input(0)->type();
  if (x.quantised()) return "quantised L2 normalisation";
  if (x.rank() != 4) return fmt::format("L2 normalisation of rank {}", x.rank());
  if (a.axes.size() != 1 || !IsLast(a.axes[0], x.rank())) return "axes other than the last";
  if (a.epsilon != 0) return fmt::format("epsilon {}", FloatText(a.epsilon));
  return std::nullopt;
}

Status WriteLrn(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t radius, ctx.Int((a.size - 1) / 2));
  NN_ASSIGN(const uint32_t bias, ctx.Float(a.bias));
  NN_ASSIGN(const uint32_t alpha, ctx.Float(a.alpha / static_cast<float>(a.size)));
  NN_ASSIGN(const uint32_t beta, ctx.Float(a.beta));
  return ctx.AddOperation(node, OperationType::kLocalResponseNormalization,
                          {x, radius, bias, alpha, beta});
}

std::optional<std::string> WhyNotLrn(const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  const Type& x = node.input(0)->type();
  if (x.rank() != 4) return fmt::format("rank {}", x.rank());
  if (a.layout != Layout::kNxc) return "channels are not last";
  if (a.size % 2 == 0) return fmt::format("a window of {} channels, not an odd number", a.size);
  if (a.bias == 0) return "bias 0";
  return std::nullopt;
}

Status WriteSoftmax(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t beta, ctx.Float(node.attrs<SoftmaxAttrs>().beta));
  return ctx.AddOperation(node, OperationType::kSoftmax, {x, beta});
}

std::optional<std::string> WhyNotSoftmax(const Node& node) {
  const auto& a = node.attrs<SoftmaxAttrs>();
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  if (x.rank() != 2 && x.rank() != 4) return fmt::format("softmax of rank {}", x.rank());
  if (!IsLast(a.axis, x.rank())) return fmt::format("softmax along axis {}", a.axis);
  if (!(a.beta > 0)) return fmt::format("beta {}", FloatText(a.beta));
  if (!x.quantised()) return std::nullopt;
  if (node.arithmetic() != Arithmetic::kTflite) return "quantised by other rules";
  if (!y.quantised() || y.quant->scale() != 1.0f / 256 || y.quant->zero_point() != 0)
    return fmt::format("a result {}, not of scale 1/256 and zero point 0", y.ToString());
  return std::nullopt;
}

}  // namespace

void AddNormExports(std::vector<ExportRow>& rows) {
  rows.push_back({"l2_normalization", WriteL2Normalization, WhyNotL2Normalization});
  rows.push_back({"lrn", WriteLrn, WhyNotLrn});
  rows.push_back({"softmax", WriteSoftmax, WhyNotSoftmax});
}

}  // namespace nn::nnapi
