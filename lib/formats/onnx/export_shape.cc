#include <algorithm>

#include "formats/onnx/export.h"
#include "ops/shape.h"

namespace nn::onnx {
namespace {

Status WriteTranspose(ExportContext& ctx, const Node& node) {
  SetInts(ctx.AddNode(node, "Transpose"), "perm", node.attrs<TransposeAttrs>().perm);
  return {};
}

// A constant target shape: numbers, a 0 where a dimension is the input's own, one -1.
std::optional<std::vector<int64_t>> TargetShape(const Node& node) {
  const Dims& in = *node.input(0)->type().dims;
  const Dims& out = *node.output()->type().dims;
  std::vector<int64_t> shape;
  bool rest = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].is_const()) {
      if (out[i].value() == 0 && !(i < in.size() && in[i] == 0)) return std::nullopt;
      shape.push_back(out[i].value());
    } else if (i < in.size() && in[i] == out[i]) {
      shape.push_back(0);
    } else if (!rest) {
      rest = true;
      shape.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  return shape;
}

Status WriteReshape(ExportContext& ctx, const Node& node) {
  if (node.input(1) != nullptr) {
    ctx.AddNode(node, "Reshape");
    return {};
  }
  const std::string shape = ctx.AddTensor(Tensor::Ints(*TargetShape(node)), "shape");
  ctx.AddNode(node, "Reshape", {ctx.NameOf(node.input(0)), shape}, {ctx.NameOf(node.output())});
  return {};
}

std::optional<std::string> WhyNotReshape(const Node& node) {
  if (node.input(1) != nullptr) return std::nullopt;
  const auto& in = node.input(0)->type();
  const auto& out = node.output()->type();
  if (!in.ranked() || !out.ranked()) return "its shape is not known";
  if (!TargetShape(node))
    return "the new shape " + ToString(*out.dims) + " has more than one unknown dimension";
  return std::nullopt;
}

// Squeeze and Unsqueeze take their axes as an attribute before operator set 13.
template <bool squeeze>
Status WriteAxes(ExportContext& ctx, const Node& node) {
  const auto& axes = node.attrs<AxesAttrs>().axes;
  const std::string_view op = squeeze ? "Squeeze" : "Unsqueeze";
  if (ctx.opset() < 13) {
    SetInts(ctx.AddNode(node, op), "axes", axes);
    return {};
  }
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0))};
  if (!axes.empty()) inputs.push_back(ctx.AddTensor(Tensor::Ints(axes), "axes"));
  ctx.AddNode(node, op, std::move(inputs), {ctx.NameOf(node.output())});
  return {};
}

}  // namespace

void AddShapeExports(std::vector<ExportRow>& rows) {
  rows.push_back({"transpose", WriteTranspose});
  rows.push_back({"reshape", WriteReshape, WhyNotReshape});
  rows.push_back({"expand_dims", WriteAxes<false>});
  rows.push_back({"squeeze", WriteAxes<true>});
}

}  // namespace nn::onnx
