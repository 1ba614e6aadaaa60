#include "formats/tflite/export.h"
#include "ops/norm.h"
#include "ops/softmax.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

std::optional<std::string> WhyNotLastAxis(const Node& node, int64_t axis) {
  const Type& x = node.input(0)->type();
  if (!x.ranked()) return "unknown rank";
  if (axis != -1 && axis != x.rank() - 1) return fmt::format("axis {} is not the last", axis);
  return WhyNotReal(node);
}

Status WriteSoftmax(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::SOFTMAX, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateSoftmaxOptions(ctx.builder(), node.attrs<SoftmaxAttrs>().beta));
  return {};
}

std::optional<std::string> WhyNotSoftmax(const Node& node) {
  return WhyNotLastAxis(node, node.attrs<SoftmaxAttrs>().axis);
}

Status WriteLogSoftmax(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::LOG_SOFTMAX, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateLogSoftmaxOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotLogSoftmax(const Node& node) {
  return WhyNotLastAxis(node, node.attrs<AlongAxisAttrs>().axis);
}

Status WriteL2Normalization(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::L2_NORMALIZATION, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateL2NormOptions(ctx.builder(), ctx.ActivationOf(node)));
  return {};
}

std::optional<std::string> WhyNotL2Normalization(const Node& node) {
  const auto& a = node.attrs<L2NormalizationAttrs>();
  if (a.axes.size() != 1) return "several axes";
  if (a.epsilon_rule != EpsilonRule::kFloor || a.epsilon != 1e-6f)
    return "another floor of the norm than 1e-6";
  return WhyNotLastAxis(node, a.axes[0]);
}

Status WriteLrn(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  ctx.AddOperator(Op::LOCAL_RESPONSE_NORMALIZATION, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateLocalResponseNormalizationOptions(
                      ctx.builder(), static_cast<int32_t>(a.size / 2), a.bias,
                      a.alpha / static_cast<float>(a.size), a.beta));
  return {};
}

std::optional<std::string> WhyNotLrn(const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  if (a.layout != Layout::kNxc) return "channels are not last";
  if (a.size % 2 == 0) return fmt::format("a window of {} channels", a.size);
  if (node.input(0)->type().rank() != 4) return "a rank other than 4";
  return WhyNotReal(node);
}

}  // namespace

void AddNormExports(std::vector<ExportRow>& rows) {
  rows.push_back({"softmax", WriteSoftmax, WhyNotSoftmax});
  rows.push_back({"log_softmax", WriteLogSoftmax, WhyNotLogSoftmax});
  rows.push_back({"l2_normalization", WriteL2Normalization, WhyNotL2Normalization, Always});
  rows.push_back({"lrn", WriteLrn, WhyNotLrn});
}

}  // namespace nn::tflite
