#include "formats/onnx/export.h"
#include "ops/softmax.h"

namespace nn::onnx {
namespace {

// Before operator set 13 the axes from `axis` on are taken together.
Status Write(ExportContext& ctx, const Node& node, std::string_view op, int64_t axis) {
  const int rank = node.input(0)->type().rank();
  if (axis < 0) axis += rank;
  if (ctx.opset() < 13 && axis != rank - 1)
    return UnsupportedError("{}: an axis other than the last needs operator set 13",
                            node.Describe());
  SetInt(ctx.AddNode(node, op), "axis", axis);
  return {};
}

Status WriteSoftmax(ExportContext& ctx, const Node& node) {
  return Write(ctx, node, "Softmax", node.attrs<SoftmaxAttrs>().axis);
}
Status WriteLogSoftmax(ExportContext& ctx, const Node& node) {
  return Write(ctx, node, "LogSoftmax", node.attrs<AlongAxisAttrs>().axis);
}
Status WriteHardmax(ExportContext& ctx, const Node& node) {
  return Write(ctx, node, "Hardmax", node.attrs<AlongAxisAttrs>().axis);
}

std::optional<std::string> WhyNotQuantised(const Node& node) {
  if (node.input(0)->type().quantised()) return "quantised operands";
  return std::nullopt;
}
std::optional<std::string> WhyNotSoftmax(const Node& node) {
  if (node.attrs<SoftmaxAttrs>().beta != 1.0f) return "a beta other than 1";
  return WhyNotQuantised(node);
}

}  // namespace

void AddSoftmaxExports(std::vector<ExportRow>& rows) {
  rows.push_back({"softmax", WriteSoftmax, WhyNotSoftmax});
  rows.push_back({"log_softmax", WriteLogSoftmax, WhyNotQuantised});
  rows.push_back({"hardmax", WriteHardmax, WhyNotQuantised});
}

}  // namespace nn::onnx
