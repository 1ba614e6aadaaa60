#include <cmath>

#include "formats/onnx/export.h"
#include "ops/elementwise.h"

namespace nn::onnx {
namespace {

Status WriteClip(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (ctx.opset() < 11) {
    pb::NodeProto* out = ctx.AddNode(node, "Clip");
    SetFloat(out, "min", a.min);
    SetFloat(out, "max", a.max);
    return {};
  }
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0)), "", ""};
  if (!std::isinf(a.min)) inputs[1] = ctx.AddTensor(Tensor::Scalar(a.min), "min");
  if (!std::isinf(a.max)) inputs[2] = ctx.AddTensor(Tensor::Scalar(a.max), "max");
  ctx.AddNode(node, "Clip", std::move(inputs), {ctx.NameOf(node.output())});
  return {};
}

}  // namespace

void AddElementwiseExports(std::vector<ExportRow>& rows) { rows.push_back({"clip", WriteClip}); }

}  // namespace nn::onnx
