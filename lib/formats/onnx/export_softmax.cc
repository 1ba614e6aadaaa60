#include "formats/onnx/export.h"
#include "ops/softmax.h"

namespace nn::onnx {
namespace {

int64_t AxisOf(const Node& node) {
  const int64_t axis =
      node.Is("softmax") ? node.attrs<SoftmaxAttrs>().axis : node.attrs<AlongAxisAttrs>().axis;
  return axis < 0 ? axis + node.input(0)->type().rank() : axis;
}

template <const char* op>
Status Write(ExportContext& ctx, const Node& node) {
  SetInt(ctx.AddNode(node, op), "axis", AxisOf(node));
  return {};
}

// Before operator set 13 the axes from `axis` on are taken together.
int64_t Opset(const Node& node) {
  return AxisOf(node) == node.input(0)->type().rank() - 1 ? 1 : 13;
}

std::optional<std::string> WhyNotQuantised(const Node& node) {
  if (node.input(0)->type().quantised()) return "quantised operands";
  return std::nullopt;
}
std::optional<std::string> WhyNotSoftmax(const Node& node) {
  if (node.attrs<SoftmaxAttrs>().beta != 1.0f) return "a beta other than 1";
  return WhyNotQuantised(node);
}

constexpr char kSoftmax[] = "Softmax", kLogSoftmax[] = "LogSoftmax", kHardmax[] = "Hardmax";

}  // namespace

void AddSoftmaxExports(std::vector<ExportRow>& rows) {
  rows.push_back({"softmax", Write<kSoftmax>, WhyNotSoftmax, Opset});
  rows.push_back({"log_softmax", Write<kLogSoftmax>, WhyNotQuantised, Opset});
  rows.push_back({"hardmax", Write<kHardmax>, WhyNotQuantised, Opset});
}

}  // namespace nn::onnx
