#include "formats/nnapi/export.h"
#include "ops/blocks.h"
#include "ops/concat.h"
#include "ops/resize.h"
#include "ops/shape.h"

namespace nn::nnapi {
namespace {

// ---- RESHAPE: what leaves the elements in their order -------------------------------------------

Status WriteReshape(ExportContext& ctx, const Node& node) {
  const auto dims = *node.output()->type().const_dims();
  const std::vector<int32_t> shape(dims.begin(), dims.end());
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t to,
            ctx.AddConstant(Tensor::Of({static_cast<int64_t>(shape.size())}, shape)));
  return ctx.AddOperation(node, OperationType::kReshape, {x, to});
}

std::optional<std::string> WhyNotTranspose(const Node& node) {
  const auto map = AxisMapOf(node);
  if (map && map->KeepsOrder(*node.input(0)->type().dims)) return std::nullopt;
  return "NNAPI 1.0 has no transposition";
}

// ---- The others ---------------------------------------------------------------------------------

Status WriteConcat(ExportContext& ctx, const Node& node) {
  std::vector<uint32_t> inputs;
  for (const Value* v : node.inputs()) {
    NN_ASSIGN(const uint32_t operand, ctx.OperandOf(v));
    inputs.push_back(operand);
  }
  const int64_t axis = node.attrs<ConcatAttrs>().axis;
  NN_ASSIGN(const uint32_t operand, ctx.Int(axis < 0 ? axis + node.output()->type().rank() : axis));
  inputs.push_back(operand);
  return ctx.AddOperation(node, OperationType::kConcatenation, std::move(inputs));
}

std::optional<std::string> WhyNotConcat(const Node& node) {
  const Type& y = node.output()->type();
  for (const Value* v : node.inputs())
    if (v->type().quantised() && (!y.quantised() || !v->type().quant->SameMapping(*y.quant)))
      return "operands of other scales than the result";
  return std::nullopt;
}

Status WriteBlocks(ExportContext& ctx, const Node& node, OperationType type) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t block, ctx.Int(node.attrs<DepthToSpaceAttrs>().block));
  return ctx.AddOperation(node, type, {x, block});
}

Status WriteDepthToSpace(ExportContext& ctx, const Node& node) {
  return WriteBlocks(ctx, node, OperationType::kDepthToSpace);
}
Status WriteSpaceToDepth(ExportContext& ctx, const Node& node) {
  return WriteBlocks(ctx, node, OperationType::kSpaceToDepth);
}

std::optional<std::string> WhyNotBlocks(const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  if (auto reason = WhyNotWindow(node, a.layout, {})) return reason;
  if (a.mode != DepthOrder::kDcr) return "channels in the order crd";
  return std::nullopt;
}

Status WriteResize(ExportContext& ctx, const Node& node) {
  const auto dims = *node.output()->type().const_dims();
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t width, ctx.Int(dims[2]));
  NN_ASSIGN(const uint32_t height, ctx.Int(dims[1]));
  return ctx.AddOperation(node, OperationType::kResizeBilinear, {x, width, height});
}

// Scales are those of the sizes, where both are known.
bool ScalesFitSizes(const Node& node, const std::vector<float>& scales) {
  const auto from = node.input(0)->type().const_dims();
  const auto to = node.output()->type().const_dims();
  if (!from || !to || scales.size() != 2) return false;
  for (size_t i = 0; i < 2; ++i)
    if (scales[i] != static_cast<float>((*to)[i + 1]) / static_cast<float>((*from)[i + 1]))
      return false;
  return true;
}

std::optional<std::string> WhyNotResize(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (auto reason = WhyNotWindow(node, a.layout, {})) return reason;
  if (node.input(0)->type().quantised()) return "resizing of quantised tensors";
  if (a.mode != ResizeMode::kLinear) return fmt::format("resizing by {}", EnumName(a.mode));
  if (a.coordinates != Coordinates::kAsymmetric)
    return fmt::format("resizing with {} coordinates", EnumName(a.coordinates));
  if (node.inputs().size() > 1) return "resizing to a size that is computed";
  if (a.aspect != AspectPolicy::kStretch || (a.sizes.empty() && !ScalesFitSizes(node, a.scales)))
    return "resizing by scales that are not those of its sizes";
  if (a.antialias) return "resizing with a filter against aliasing";
  return std::nullopt;
}

}  // namespace

void AddShapeExports(std::vector<ExportRow>& rows) {
  for (const std::string_view op : {"reshape", "squeeze", "expand_dims"})
    rows.push_back({op, WriteReshape});
  rows.push_back({"transpose", WriteReshape, WhyNotTranspose});
  rows.push_back({"concat", WriteConcat, WhyNotConcat});
  rows.push_back({"depth_to_space", WriteDepthToSpace, WhyNotBlocks});
  rows.push_back({"space_to_depth", WriteSpaceToDepth, WhyNotBlocks});
  rows.push_back({"resize", WriteResize, WhyNotResize});
}

}  // namespace nn::nnapi
